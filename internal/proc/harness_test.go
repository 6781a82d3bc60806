//go:build unix

package proc_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	proc.ShimMain()
	fake.Main()
	beHost()
	os.Exit(m.Run())
}

// Short names for what every test here is made of.
type (
	step  = fake.Step
	spawn = fake.Spawn
)

var (
	ready  = step{Stdout: "ready\n"}
	hang   = step{Hang: true}
	errEnd = errors.New("stopped by the test")
)

// margin is what a loaded machine may add to any bound that a test checks.
const margin = 10 * time.Second

// trial is one run of a fake. Every trial also checks that Run returns in time, that nothing leaks, and that no
// process is left, found by its arguments and so by other means than those under test.
type trial struct {
	steps   []step
	args    []string
	command proc.Command // the rest of it
	// stopWhen stops the run when standard output has it; empty for not at all.
	stopWhen string
	// token is by which survivors are found, the path of the fake if empty.
	token string
	// suspended waits, before that stop, until the program has stopped itself with SIGSTOP.
	suspended bool
	within    time.Duration // after the stop or, without one, the start; 0 for two graces and the defaults
}

// run plays the trial and returns its result and the path of the fake.
func (tr trial) run(t *testing.T) (proc.Result, string) {
	t.Helper()
	path := fake.New(t, "fake", fake.Scenario{Steps: tr.steps})
	return tr.runAt(t, path), path
}

func (tr trial) runAt(t *testing.T, path string) proc.Result {
	t.Helper()
	warmUp(t)
	fake.NoLeaks(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	begin := time.Now()
	c := tr.command
	c.Path, c.Args = path, append([]string{path}, tr.args...)
	if tr.stopWhen != "" {
		c.Stdout = &watcher{text: tr.stopWhen, next: c.Stdout, found: func() {
			if tr.suspended {
				eventually(t, func() bool { return isSuspended(path) })
			}
			begin = time.Now()
			cancel(errEnd)
		}}
	}
	result, err := proc.Run(ctx, c)
	require.NoError(t, err)
	bound := tr.within
	if bound == 0 {
		bound = 2*max(c.Grace, 0) + 3*time.Second
	}
	require.Less(t, time.Since(begin), bound+margin, "time to return")
	require.Empty(t, fake.Survivors(cmp.Or(tr.token, path)))
	return result
}

// isSuspended reports whether the fake has been stopped by a signal. Without /proc it guesses so.
func isSuspended(path string) bool {
	for _, s := range fake.Survivors(path) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(s.Pid) + "/stat")
		return err == nil && bytes.Contains(line, []byte(") T "))
	}
	return true
}

// warmUp makes the run that starts what a process keeps, so that leak checks do not count it. Its program is a small
// one: a fake takes as long to start as that of the test.
func warmUp(t *testing.T) {
	t.Helper()
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	_, err = proc.Run(t.Context(), proc.Command{Path: program})
	require.NoError(t, err)
}

// watcher is a Writer that calls found once when it has seen the text.
type watcher struct {
	text  string
	seen  bytes.Buffer
	found func()
	next  interface{ Write([]byte) (int, error) }
}

func (w *watcher) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if w.found != nil && bytes.Contains(w.seen.Bytes(), []byte(w.text)) {
		w.found()
		w.found = nil
	}
	if w.next != nil {
		return w.next.Write(p)
	}
	return len(p), nil
}

// writerFunc is a Writer made of a function.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// steps starts a list of steps; it reads better than the literal.
func steps(s ...step) []step { return s }

// eventually polls until the condition holds, on the goroutine of the test, so that the condition may use require.
func eventually(t *testing.T, holds func() bool, message ...any) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), message...)
	}
}
