package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world is a directory for the fakes and temporary files of one test.
type world struct {
	t               *testing.T
	bin, tmp, cache string
	env             []string // for all commands
}

func newWorld(t *testing.T) *world {
	tmp := t.TempDir()
	w := &world{t, t.TempDir(), tmp, t.TempDir(), nil}
	t.Cleanup(func() {
		left, err := os.ReadDir(tmp)
		require.NoError(t, err)
		require.Empty(t, left, "temporary files are left")
	})
	return w
}

// fake installs a fake and returns its path. The path identifies the processes of the fake.
func (w *world) fake(name, kind, text string) string {
	path, err := clitest.Install(w.bin, name, scenario(name, kind, text))
	require.NoError(w.t, err)
	return path
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program(), args...)
	cmd.Env = append([]string{
		"PATH=" + w.bin, temporaryVariable() + "=" + w.tmp, "HOME=" + w.cache, "XDG_CACHE_HOME=" + w.cache, "XDG_STATE_HOME=" + w.cache,
		"USERPROFILE=" + w.cache, "LocalAppData=" + w.cache, quickExit, noCooldowns, noHurry, unconfined,
	}, append(w.env, logins...)...)
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// TestAskStopsWithoutReader closes the reader of stdout, as "| head -1" does.
func TestAskStopsWithoutReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := installFlood(t, w)
	leaveAfterALine(t, w.command("ask", "--stream", "--only", "claude", "hi"), path)
}

// leaveAfterALine reads one line and closes the pipe. The command must exit without a message, and no process may
// remain.
func leaveAfterALine(t *testing.T, cmd *exec.Cmd, path string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Empty(t, stderr.String())
	require.Empty(t, clitest.Survivors(path))
}

// installFlood makes a fake that writes much output and then hangs.
func installFlood(t *testing.T, w *world) string {
	steps := []clitest.Step{{ReadStdin: true}}
	for range 2000 {
		steps = append(steps, clitest.Step{Stdout: delta(strings.Repeat("x", 500)+"\n") + "\n"})
	}
	path, err := clitest.Install(w.bin, "claude", clitest.Scenario{Steps: append(steps, clitest.Step{Hang: true})})
	require.NoError(t, err)
	return path
}

// TestSuppressedExitsImmediately checks that with SKIP_CLI the command exits immediately, even if stdin stays open.
func TestSuppressedExitsImmediately(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "no")
	suppressed, bare := time.Hour, time.Hour
	// The test uses the fastest of several runs because the machine may be busy.
	atOnce := func() bool { return suppressed < 5*bare+time.Second }
	for n := 0; n < 5 || n < 20 && !atOnce(); n++ {
		start := time.Now()
		require.NoError(t, w.command("--version").Run())
		bare = min(bare, time.Since(start))

		cmd := w.command("ask", "hi")
		cmd.Env = append(cmd.Env, "SKIP_CLI=1")
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		start = time.Now()
		err = cmd.Run()
		suppressed = min(suppressed, time.Since(start))
		_ = stdin.Close() // Run has already closed it
		require.Error(t, err)
		require.Equal(t, 3, cmd.ProcessState.ExitCode())
		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), "SKIP_CLI=1")
	}
	t.Logf("suppressed after %v, a bare start takes %v", suppressed, bare)
	require.True(t, atOnce())
}

// TestSilentStdin checks the message about an open stdin, and that Ctrl-C works while the command waits.
func TestSilentStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "no")
	cmd := w.command("ask", "hi")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(stderr)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "waiting for the end of stdin")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}

// TestStdinTimeLimit checks that the limits of a call also limit reading stdin.
func TestStdinTimeLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		flags []string
		want  string
	}{
		{"timeout", []string{"--timeout", "300ms"}, "within 300ms: a longer --timeout gives it more time, --no-stdin does not read it"},
		{"budget", []string{"--timeout", "1m", "--budget", "200ms"}, "within 200ms: a longer --budget gives it more time"},
		{"build", []string{"--budget", "250ms"}, "within 250ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fake("claude", "answer", "no")
			command := map[bool]string{true: "build", false: "ask"}[test.name == "build"]
			cmd := w.command(append(append([]string{command}, test.flags...), "hi")...)
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			defer stdin.Close()
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.Error(t, cmd.Run())
			require.Equal(t, 124, cmd.ProcessState.ExitCode())
			require.Contains(t, stderr.String(), test.want)
		})
	}
}

// TestStdinCostsBudget checks that --budget includes the time to read stdin.
func TestStdinCostsBudget(t *testing.T) {
	t.Parallel()
	budget := (2 * request.StdinNotice).String()
	w := newWorld(t)
	w.fake("claude", "hang", "")
	byFlag := w.command("ask", "--budget", budget, "--only", "claude", "hi")
	byVariable := w.command("ask", "--only", "claude", "hi")
	byVariable.Env = append(byVariable.Env, selection.BudgetVariable+"="+budget)
	flagged, inherited := afterStdin(t, byFlag), afterStdin(t, byVariable) // both commands wait at the same time
	require.LessOrEqual(t, flagged(), request.StdinNotice)
	require.Greater(t, inherited(), request.StdinNotice)
}

// afterStdin starts a command, and closes its stdin after the message about stdin. The function had waits for the
// command and returns the time limit of its backend.
func afterStdin(t *testing.T, cmd *exec.Cmd) (had func() time.Duration) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	rest := make(chan []byte, 1)
	go func() {
		r := bufio.NewReader(stderr)
		_, noNotice := r.ReadString('\n')
		closed := stdin.Close()
		text, failed := io.ReadAll(r)
		assert.NoError(t, errors.Join(noNotice, closed, failed))
		rest <- text
	}()
	return func() time.Duration {
		said := <-rest
		require.Error(t, cmd.Wait())
		require.Equal(t, 124, cmd.ProcessState.ExitCode())
		found := regexp.MustCompile(`timeout after (\S+) `).FindSubmatch(said)
		require.NotNil(t, found, "%s", said)
		had, err := time.ParseDuration(string(found[1]))
		require.NoError(t, err)
		return had
	}
}

// TestProbeTimeout checks that doctor terminates a CLI that does not exit.
func TestProbeTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, err := clitest.Install(w.bin, "claude", clitest.Scenario{Steps: []clitest.Step{
		{Ignore: []string{"INT", "TERM"}}, {Spawn: &clitest.Spawn{Setsid: true, HoldStdout: true, Steps: []clitest.Step{{Hang: true}}}}, {Hang: true},
	}})
	require.NoError(t, err)
	w.fake("codex", "version", "codex-cli 1")
	out, err := w.command("doctor", "--probe", "--json").Output()
	require.NoError(t, err)
	require.Regexp(t, `"code":"slow","message":"--version did not answer within [0-9.]+s: it is slow or hangs"`, string(out))
	require.Contains(t, string(out), `"version":"codex-cli 1"`)
	require.Contains(t, string(out), `"ready":2`, "a call may be answered: it has more time")
	require.Empty(t, clitest.Survivors(path))
}
