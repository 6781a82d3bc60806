package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/stretchr/testify/require"
)

// TestFleetMixed runs two workers with different CLIs. Each worker must answer the jobs that only its CLI supports.
func TestFleetMixed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "of claude")
	f.fake("codex", "answer", "of codex")
	f.answers("queue", "submit", "--id", "for-codex", "--model", "codex/gpt-5", "hi")
	f.answers("queue", "submit", "--id", "for-claude", "--model", "claude/opus", "hi")
	f.answers("queue", "submit", "--id", "with-turns", "--max-turns", "3", "hi") // codex does not support --max-turns
	codex := f.worker("--only", "codex", "--cold", "--name", "one")
	require.Contains(t, f.answers("queue", "result", "--wait", "for-codex"), "of codex")
	require.Empty(t, f.answers("queue", "list", "--state", "dead"))
	claude := f.worker("--only", "claude", "--cold", "--name", "two")
	require.Contains(t, f.answers("queue", "result", "--wait", "for-claude"), "of claude")
	require.Contains(t, f.answers("queue", "result", "--wait", "with-turns"), "of claude")
	require.Regexp(t, `two +0/4 +protocol 4, .*claude`, f.answers("queue", "status"))
	for _, w := range []*working{codex, claude} {
		code, log := w.stop(syscall.SIGTERM)
		require.Zero(t, code, log)
	}
}

// submit --wait, and a batch without a terminal, must print why no worker takes a job.
func TestFleetReportsUnservedJob(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("codex", "answer", "of codex")
	w := f.worker("--only", "codex", "--cold", "--name", "one")
	why := "it needs model claude/opus, and no worker takes it: one: codex: model_mismatch"
	submit := f.command("queue", "submit", "--id", "a", "--model", "claude/opus", "--wait", "hi")
	submit.Env = append(submit.Env, "NATS_URL="+f.url)
	require.Contains(t, hears(t, submit, `job "a" waits`), why)
	in := t.TempDir() + "/in.jsonl"
	require.NoError(t, os.WriteFile(in, []byte(`{"id":"1","prompt":"hi","model":"claude/opus"}`+"\n"), 0o600))
	require.Contains(t, hears(t, f.command("batch", "-i", in, "-o", in+".out", "--nats", f.url), "possibly others"), why)
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
}

// A batch that resumes during a cooldown must print that it waits for the cooldown, and continue when it is cleared.
func TestBatchContinuesAfterClear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("codex", "limit", "")
	in := t.TempDir() + "/in.jsonl"
	require.NoError(t, os.WriteFile(in, []byte(`{"id":"1","prompt":"hi"}`+"\n"), 0o600))
	run := func(args ...string) *exec.Cmd {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "CLICHAIN_COOLDOWNS="+in+".cooldowns")
		return cmd
	}
	batch := []string{"batch", "-i", in, "-o", in + ".out", "--only", "codex", "--cold"}
	for budget, waits := 3*time.Second, false; !waits; budget *= 4 { // a busy machine starts the CLI slowly
		said, err := run(append(batch, "--budget", budget.String())...).CombinedOutput()
		require.ErrorContains(t, err, "exit status 124", "%s", said)
		said, err = run(append(batch, "--budget", budget.String())...).CombinedOutput()
		require.ErrorContains(t, err, "exit status 124", "%s", said)
		waits = strings.Contains(string(said), "no CLI can answer before ")
		require.True(t, waits || budget < time.Minute, "%s", said)
	}

	said, err := run("cooldowns", "clear").CombinedOutput()
	require.NoError(t, err, "%s", said)
	w.fake("codex", "answer", "well")
	said, err = run(append(batch, "--budget", "60s")...).CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// hears starts a command, waits until a line of its stderr contains the text, and interrupts the command.
func hears(t *testing.T, cmd *exec.Cmd, text string) (line string) {
	t.Helper()
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := make(consoletest.LineWriter, 1000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(said); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	line = lines.Await(t, text)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	return line
}
