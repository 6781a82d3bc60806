//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// report stores a window of five hours of claude, of which a share is used.
func report(t *testing.T, store cooldown.QuotaStore, used float64) {
	t.Helper()
	now := time.Now()
	require.NoError(t, store.UpdateQuota(t.Context(), "key", func(cooldown.Quota) cooldown.Quota {
		return cooldown.Quota{Account: "team", Backends: []string{"claude"}, Windows: []call.QuotaWindow{
			{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: now.Add(3 * time.Hour), ObservedAt: now},
		}}
	}))
}

func TestUsageOfFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, variable := usageOf(t)
	output := func(args ...string) string {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, variable)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, output("usage"), "No usage windows are known.")
	report(t, store, 0.63)
	require.Regexp(t, `(?s)^claude \(account team\)\n  5 hours  five_hour  █+░+  63 %  until .*, used up at `, output("usage"))
	require.Contains(t, output("usage", "--json"), `"used":0.63`)
	off := w.command("usage")
	off.Env = append(off.Env, "CLICHAIN_COOLDOWNS=off")
	out, err := off.CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), "no store keeps them")
}

// Without a terminal, the command prints a line for each change, and ends with 0 at a signal.
func TestUsageWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, variable := usageOf(t)
	report(t, store, 0.2)
	cmd := w.command("usage", "--watch")
	cmd.Env = append(cmd.Env, variable)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), " claude (account team): 20 % of 5 hours (five_hour) until ")
	report(t, store, 0.3)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), ": 30 % of 5 hours")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.False(t, lines.Scan(), lines.Text())
	require.NoError(t, cmd.Wait())
}

func TestUsageWatchOnTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, variable := usageOf(t)
	cmd := w.command("usage", "--watch")
	cmd.Env = append(cmd.Env, variable, "TERM=xterm")
	s := onScreen(t, cmd, 80)
	s.await("No usage windows are known")
	report(t, store, 0.2)
	s.await(` 20 %  until`)
	report(t, store, 0.95)
	s.await(` 95 %  until`)
	_, err := s.tty.WriteString("\x03")
	require.NoError(t, err)
	text, raw := s.end(0)
	require.NotContains(t, text, "20 %", "each drawing replaces the previous one")
	require.Contains(t, raw, "\x1b[31m")
}

func TestUsageRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "never")
	store, variable := usageOf(t)
	run := func(args ...string) (string, int) {
		cmd := w.command(append([]string{"usage", "--refresh"}, args...)...)
		cmd.Env = append(cmd.Env, variable)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, status := run("--only", "claude")
	require.Equal(t, console.ExitNothing, status, out)
	server := func(response string) {
		line := clitest.Step{ReadLine: true}
		_, err := clitest.Install(w.bin, "codex", clitest.Scenario{Cases: []clitest.Case{{
			Args: []string{"app-server"}, Steps: []clitest.Step{
				line, {Stdout: `{"id":1,"result":{}}` + "\n"}, line, line, {Stdout: response + "\n"}, {ReadStdin: true},
			},
		}}})
		require.NoError(t, err)
	}
	server(`{"id":2,"error":{"code":1,"message":"chatgpt authentication required"}}`)
	out, status = run()
	require.Equal(t, console.ExitFailed, status, out)
	require.Contains(t, out, "chatgpt authentication required")
	server(`{"id":2,"result":{"rateLimits":{"primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":null}}}}`)
	out, status = run()
	require.Zero(t, status, out)
	require.Regexp(t, `codex\n  5 hours  primary  █+░+  42 %\n`, out)
	quotas, err := store.Quotas(t.Context())
	require.NoError(t, err)
	require.Len(t, quotas, 1)

	cmd := w.command("doctor", "--json", "--only", "codex")
	cmd.Env = append(cmd.Env, variable)
	data, err := cmd.Output()
	require.NoError(t, err)
	var found struct {
		Backends []struct{ Window *call.QuotaWindow }
	}
	require.NoError(t, json.Unmarshal(data, &found))
	require.Equal(t, 0.42, *found.Backends[0].Window.Used)
}
func TestFleetUsage(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.Contains(t, f.answers("usage", "--nats", f.url), "No usage windows are known")
	nc, err := nats.Connect(f.url)
	require.NoError(t, err)
	defer nc.Close()
	shared, err := jetstream.OpenCooldowns(t.Context(), nc, nil)
	require.NoError(t, err)
	defer shared.Close()
	report(t, shared, 0.5)
	require.Contains(t, f.answers("usage", "--nats", f.url), " 50 %  until ")
	require.NotContains(t, f.answers("usage"), "50 %", "NATS_URL alone selects no fleet")
	_, stderr, status := f.run("usage", "--refresh", "--nats", f.url)
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, strings.ReplaceAll(stderr, "\n", " "), "--refresh: asks the CLIs of this user")
}
