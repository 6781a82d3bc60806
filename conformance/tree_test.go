package conformance_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// rounds is the number of repetitions for each CLI and each way to end a call.
var rounds = flag.Int("rounds", 1, "repetitions of the tests of process trees and verdicts")

// shell returns a reply in which the model runs a command in the CLI's shell tool.
func shell(name, command string) loopback.Reply {
	switch name {
	case home.Claude:
		return loopback.Tool("Bash", map[string]any{"command": command, "description": "wait"})
	case home.Codex:
		return loopback.Tool("exec_command", map[string]any{"cmd": command, "yield_time_ms": 60000})
	case home.Kimi:
		return loopback.Tool("Bash", map[string]any{"command": command})
	case home.Cline:
		return loopback.Tool("run_commands", map[string]any{"commands": []string{command}})
	case home.Gemini, home.Qwen:
		return loopback.Tool("run_shell_command", map[string]any{"command": command, "description": "wait"})
	}
	return loopback.Tool("bash", map[string]any{"command": command, "description": "wait"})
}

// waiter returns a shell command with a background child. Both wait forever, and their unique argument identifies
// them. claude does not allow sleep in its shell.
func waiter() (command, token string) {
	token = fmt.Sprintf("97%d%05d", os.Getpid()%1000, time.Now().UnixNano()%100_000)
	wait := "tail -f -s " + token + " /dev/null"
	return wait + " & " + wait + "; wait", token
}

// withArgument lists the processes that have the token as an argument.
func withArgument(t *testing.T, token string) (found []string) {
	t.Helper()
	dirs, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, dir := range dirs {
		cmdline, _ := os.ReadFile("/proc/" + dir.Name() + "/cmdline")
		for _, arg := range strings.Split(string(cmdline), "\x00") {
			if arg == token {
				found = append(found, dir.Name())
			}
		}
	}
	return found
}

// toolRuns waits until both commands of the shell tool run.
func toolRuns(t *testing.T, token string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(withArgument(t, token)) >= 2 }, minute, 10*time.Millisecond, "the tool never ran")
}

// nothingLeft asserts that no process of the tool or of the CLI is alive.
func nothingLeft(t *testing.T, token string, h home.Home) {
	t.Helper()
	require.Empty(t, withArgument(t, token), "survivors of the tool")
	require.Empty(t, living(t, h), "survivors of the CLI")
}

// A real CLI runs its shell tool. No process survives the end of the call.
func TestNothingSurvivesTheCall(t *testing.T) {
	var registry runs.Registry
	ways := map[string]func(cancel context.CancelFunc, key string){
		"cancel": func(cancel context.CancelFunc, _ string) { cancel() },
		"abort":  func(_ context.CancelFunc, key string) { registry.KillAll(key) },
	}
	for _, name := range home.Names() {
		for way, end := range ways {
			for round := range *rounds {
				t.Run(fmt.Sprintf("%s/%s/%d", name, way, round), func(t *testing.T) {
					t.Parallel()
					longUnless(t, way == "cancel")
					command, token := waiter()
					c := start(t, name, home.LoggedIn, clichain.Config{Timeout: 2 * minute, Registry: &registry}, loopback.Always(shell(name, command)))
					ctx, cancel := context.WithCancel(runs.WithKey(t.Context(), token, ""))
					defer cancel()
					failed := make(chan error, 1)
					go func() {
						_, err := c.Complete(ctx, c.agent())
						failed <- err
					}()
					toolRuns(t, token)
					began := time.Now()
					end(cancel, token)
					require.ErrorIs(t, <-failed, clichain.ErrCanceled)
					testtime.Within(t, began, 10*time.Second)
					nothingLeft(t, token, c.home)
				})
			}
		}
	}
}

// A call times out while a tool runs. No process survives. The chain does not repeat the request, whether or not the
// CLI reported the tool by then.
func TestNothingSurvivesATimeout(t *testing.T) {
	list := []clichain.CliSpec{specs.Copilot(), specs.Kimi(), specs.Pi(), specs.Kilo(), specs.Cline(), specs.Qwen()}
	for _, name := range home.Names() {
		list = append(list, specOf(t, name))
	}
	for _, spec := range list {
		for round := range *rounds {
			t.Run(fmt.Sprintf("%s/%d", spec.Name, round), func(t *testing.T) {
				longUnless(t, spec.Name == home.Claude || spec.Name == home.OpenCode)
				t.Parallel()
				for timeout := 6 * time.Second; !timeOut(t, spec, timeout); timeout *= 2 {
					require.Less(t, timeout, 2*minute, "the tool never ran")
				}
			})
		}
	}
}

// timeOut runs a call with a timeout and reports whether the CLI's tool ran before it.
func timeOut(t *testing.T, spec clichain.CliSpec, timeout time.Duration) (ran bool) {
	t.Helper()
	command, token := waiter()
	c := startSpec(t, spec, home.LoggedIn, clichain.Config{Timeout: timeout}, loopback.Always(shell(spec.Binary, command)))
	shown := false
	hooks := &clichain.Hooks{Event: func(_ context.Context, e clichain.Event) { shown = shown || e.Kind == clichain.EventToolUse }}
	over := make(chan struct{})
	var err error
	go func() {
		defer close(over)
		_, err = withSpare(c, hooks).Complete(t.Context(), c.agent())
	}()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for running := true; running; {
		select {
		case <-ticks.C:
			ran = ran || len(withArgument(t, token)) >= 2
		case <-over:
			running = false
		}
	}
	nothingLeft(t, token, c.home)
	if ran {
		require.ErrorIs(t, err, clichain.ErrTimeout)
		require.ErrorContains(t, err, "may have used a tool")
		if spec.Name != home.Kimi { // kimi reports the tool when it is terminated
			require.Equal(t, spec.ToolEvents == clispec.ToolsAtStart, shown)
		}
	}
	return ran
}

// The host gets SIGINT or SIGKILL. No process survives.
func TestNothingSurvivesTheHost(t *testing.T) {
	long(t)
	netns.Require(t)
	program := command(t)
	for _, name := range home.Names() {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			for round := range *rounds {
				t.Run(fmt.Sprintf("%s/%v/%d", name, sig, round), func(t *testing.T) {
					t.Parallel()
					if sig == syscall.SIGINT {
						long(t)
					}
					command, token := waiter()
					server := loopback.New(t, loopback.Always(shell(name, command)))
					h := home.New(t, name, server.URL, home.LoggedIn)
					_, _, cmd := commandIn(t, program, h, "ask", "--only", name, "--access", "full", "--timeout", "2m", "--pass-env", "LOOPBACK_*", "use your shell")
					cmd.Env = append(cmd.Env, "IS_SANDBOX=1")
					require.NoError(t, cmd.Start())
					toolRuns(t, token)
					require.NoError(t, cmd.Process.Signal(sig))
					require.Error(t, cmd.Wait())
					if sig == syscall.SIGKILL { // the watchdog needs a moment
						require.Eventually(t, func() bool { return len(withArgument(t, token)) == 0 && len(living(t, h)) == 0 }, minute, 5*time.Millisecond)
					}
					nothingLeft(t, token, h)
				})
			}
		}
	}
}

// agent returns a request that lets the CLI use its shell.
func (c cli) agent() clichain.Request {
	return c.askIn(clichain.AccessFull, "use your shell")
}
