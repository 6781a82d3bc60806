//go:build linux

package clitest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

var hang = []clitest.Step{{Hang: true}}

// wait polls until the condition holds.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 20*time.Second, 2*time.Millisecond)
}

func TestChildrenOutliveTheFake(t *testing.T) {
	for _, test := range []struct {
		name  string
		spawn clitest.Spawn
		want  int
	}{
		{"plain", clitest.Spawn{Steps: hang}, 1},
		{"several", clitest.Spawn{Steps: hang, Count: 3, Setsid: true}, 3},
		{"daemon without environment", clitest.Spawn{Steps: hang, Daemon: true, ClearEnv: true}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := clitest.Fake(t, "fake", steps(clitest.Step{Spawn: &test.spawn}))
			require.NoError(t, exec.Command(path).Run())
			left := clitest.Survivors(path)
			require.Len(t, left, test.want)
			for _, s := range left {
				require.NoError(t, syscall.Kill(s.Pid, syscall.SIGKILL))
			}
			wait(t, func() bool { return len(clitest.Survivors(path)) == 0 })
		})
	}
}

func TestGroupsAndSessions(t *testing.T) {
	for _, test := range []struct {
		name               string
		spawn              clitest.Spawn
		ownGroup, ownSess  bool
		parent             int
		environmentIsEmpty bool
	}{
		{name: "plain", spawn: clitest.Spawn{}},
		{name: "setpgid", spawn: clitest.Spawn{Setpgid: true}, ownGroup: true},
		{name: "setsid", spawn: clitest.Spawn{Setsid: true}, ownGroup: true, ownSess: true},
		{name: "daemon", spawn: clitest.Spawn{Daemon: true}, ownGroup: true, ownSess: true},
		{name: "clear environment", spawn: clitest.Spawn{ClearEnv: true}, environmentIsEmpty: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "record")
			test.spawn.Steps = []clitest.Step{{Record: file}}
			stdout, stderr, _ := run(t, steps(clitest.Step{Spawn: &test.spawn}), "")
			require.Empty(t, stdout+stderr)
			var r clitest.Record
			wait(t, func() (ok bool) { r, ok = read(file); return ok })
			require.Equal(t, test.ownGroup, r.Group == r.Pid, "group %d of %d", r.Group, r.Pid)
			require.Equal(t, test.ownSess, r.Sess == r.Pid, "session %d of %d", r.Sess, r.Pid)
			require.Equal(t, test.environmentIsEmpty, len(r.Env) == 0)
		})
	}
}

func read(file string) (clitest.Record, bool) {
	r, err := clitest.ReadRecord(file)
	return r, err == nil
}

func TestWaitsForChildren(t *testing.T) {
	child := &clitest.Spawn{Wait: true, HoldStdout: true, Steps: []clitest.Step{{Stdout: "child "}}}
	stdout, _, _ := run(t, steps(clitest.Step{Spawn: child}, clitest.Step{Stdout: "parent"}), "")
	require.Equal(t, "child parent", stdout)
}

func TestRespawns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	child := []clitest.Step{{Record: file}, {Hang: true}}
	path := clitest.Fake(t, "fake", steps(clitest.Step{Spawn: &clitest.Spawn{Steps: child, Respawn: true}}, clitest.Step{Hang: true}))
	cmd := exec.Command(path)
	require.NoError(t, cmd.Start())
	var first clitest.Record
	wait(t, func() (ok bool) { first, ok = read(file); return ok })
	require.NoError(t, syscall.Kill(first.Pid, syscall.SIGKILL))
	wait(t, func() bool { next, ok := read(file); return ok && next.Pid != first.Pid })
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

func TestSelfIsAChainOfProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links")
	path := clitest.Fake(t, "fake", steps(clitest.Step{Record: file}, clitest.Step{Spawn: &clitest.Spawn{Self: true, Setpgid: true}}))
	require.NoError(t, exec.Command(path).Run())
	first, ok := read(file)
	require.True(t, ok)
	wait(t, func() bool { r, ok := read(file); return ok && r.Pid != first.Pid })
	require.NoError(t, os.Remove(filepath.Dir(file)+"/links"))
	require.NoError(t, os.Remove(filepath.Dir(file))) // ends the chain: a link that cannot record fails
	wait(t, func() bool { return len(clitest.Survivors(path)) == 0 })
}

// failures is a TB that counts instead of failing.
type failures struct {
	*testing.T
	count   int
	cleanup []func()
}

func (f *failures) Errorf(string, ...any)  { f.count++ }
func (f *failures) Cleanup(cleanup func()) { f.cleanup = append(f.cleanup, cleanup) }

func TestNoLeaks(t *testing.T) {
	for _, test := range []struct {
		name string
		leak func(t *testing.T) (undo func())
		want int
	}{
		{"nothing", func(*testing.T) func() { return func() {} }, 0},
		{"a file", leakFile, 1},
		{"a goroutine", leakGoroutine, 1},
		{"a child", leakChild, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &failures{T: t}
			clitest.NoLeaksFor(f, 200*time.Millisecond)
			undo := test.leak(t)
			for _, cleanup := range f.cleanup {
				cleanup()
			}
			require.Equal(t, test.want, f.count)
			undo()
		})
	}
}

func leakFile(t *testing.T) func() {
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	return func() { _ = f.Close() }
}

func leakGoroutine(*testing.T) func() {
	stop := make(chan struct{})
	for range 10 { // goroutines of earlier tests may end meanwhile
		go func() { <-stop }()
	}
	return func() { close(stop) }
}

func leakChild(t *testing.T) func() {
	cmd := exec.Command(clitest.Fake(t, "fake", steps(clitest.Step{Hang: true})))
	require.NoError(t, cmd.Start())
	return func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
}
