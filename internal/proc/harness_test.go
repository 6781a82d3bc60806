//go:build unix

package proc_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/leaks/parallel"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	proc.ShimMain()
	fake.Main()
	beHost()
	if slices.ContainsFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PROC_TEST_") }) {
		os.Exit(fake.Run(m)) // one test, again, in another process
	}
	if program, err := exec.LookPath("true"); err == nil { // starts the permanent resources
		_, _ = proc.Run(context.Background(), proc.Command{Path: program}) // each trial checks this run
	}
	parallel.Default(8) // these tests wait more than they compute
	os.Exit(fake.Run(parallel.Tests(m)))
}

// Short names for what every test here uses.
type (
	step  = fake.Step
	spawn = fake.Spawn
)

var (
	ready  = step{Stdout: "ready\n"}
	hang   = step{Hang: true}
	errEnd = errors.New("stopped by the test")
)

// margin is the time that a loaded machine may add to any limit that a test checks.
const margin = 10 * time.Second

// trial is one run of a fake. Every trial also checks that Run returns in time, that nothing leaks, and that no
// process is left. It finds processes by their arguments, independently of the code under test.
type trial struct {
	steps   []step
	args    []string
	command proc.Command // the other fields
	// stopWhen stops the run when standard output contains it; empty means that the run is not stopped.
	stopWhen string
	// token is an argument by which survivors are found; empty means the path of the fake.
	token string
	// suspended waits, before that stop, until the program has stopped itself with SIGSTOP.
	suspended bool
	within    time.Duration // after the stop or, without one, the start; 0 for two graces and the defaults
}

// run runs the trial and returns its result and the path of the fake.
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
	testtime.Within(t, begin, bound+margin, "time until Run returned")
	require.Empty(t, fake.Survivors(cmp.Or(tr.token, path)))
	return result
}

// isSuspended reports whether the fake has been stopped by a signal. Without /proc, it waits and assumes so.
func isSuspended(path string) bool {
	for _, s := range fake.Survivors(path) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(s.Pid) + "/stat")
		return err == nil && bytes.Contains(line, []byte(") T "))
	}
	return true
}

// warmUp performs a run that starts the permanent resources of a process, so that leak checks do not count
// them. It uses a small program, because a fake starts as slowly as the test binary.
func warmUp(t *testing.T) {
	t.Helper()
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	_, err = proc.Run(t.Context(), proc.Command{Path: program})
	require.NoError(t, err)
}

// watcher is a Writer that calls found once after it has seen the text.
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

// writerFunc is a func that implements io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// steps returns a list of steps; it reads better than the literal.
func steps(s ...step) []step { return s }

// eventually polls until the condition is true, on the goroutine of the test, so that the condition may use
// require.
func eventually(t *testing.T, holds func() bool, message ...any) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), message...)
	}
}
