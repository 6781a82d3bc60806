//go:build linux

package fake_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/leaks"
	"github.com/stretchr/testify/require"
)

var hang = []fake.Step{{Hang: true}}

// wait polls until the condition is true.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, time.Minute, 2*time.Millisecond)
}

func TestChildrenOutliveFake(t *testing.T) {
	for _, test := range []struct {
		name  string
		spawn fake.Spawn
		want  int
	}{
		{"plain", fake.Spawn{Steps: hang}, 1},
		{"several", fake.Spawn{Steps: hang, Count: 3, Setsid: true}, 3},
		{"daemon without environment", fake.Spawn{Steps: hang, Daemon: true, ClearEnv: true}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := fake.New(t, "fake", steps(fake.Step{Spawn: &test.spawn}))
			require.NoError(t, exec.Command(path).Run())
			left := fake.Survivors(path)
			require.Len(t, left, test.want)
			for _, s := range left {
				require.NoError(t, syscall.Kill(s.Pid, syscall.SIGKILL))
			}
			wait(t, func() bool { return len(fake.Survivors(path)) == 0 })
		})
	}
}

func TestGroupsAndSessions(t *testing.T) {
	for _, test := range []struct {
		name               string
		spawn              fake.Spawn
		ownGroup, ownSess  bool
		parent             int
		environmentIsEmpty bool
	}{
		{name: "plain", spawn: fake.Spawn{}},
		{name: "setpgid", spawn: fake.Spawn{Setpgid: true}, ownGroup: true},
		{name: "setsid", spawn: fake.Spawn{Setsid: true}, ownGroup: true, ownSess: true},
		{name: "daemon", spawn: fake.Spawn{Daemon: true}, ownGroup: true, ownSess: true},
		{name: "clear environment", spawn: fake.Spawn{ClearEnv: true}, environmentIsEmpty: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "record")
			test.spawn.Steps, test.spawn.Args = []fake.Step{{Record: file}}, []string{"--more"}
			stdout, stderr, _ := run(t, steps(fake.Step{Spawn: &test.spawn}), "")
			require.Empty(t, stdout+stderr)
			var r fake.Record
			wait(t, func() (ok bool) { r, ok = read(file); return ok })
			require.Equal(t, test.ownGroup, r.Group == r.Pid, "group %d of %d", r.Group, r.Pid)
			require.Equal(t, test.ownSess, r.Sess == r.Pid, "session %d of %d", r.Sess, r.Pid)
			require.Equal(t, test.environmentIsEmpty, len(r.Env) == 0)
			require.Equal(t, "--more", r.Args[len(r.Args)-1])
		})
	}
}

func read(file string) (fake.Record, bool) {
	r, err := fake.ReadRecord(file)
	return r, err == nil
}

func TestSpawnWait(t *testing.T) {
	child := &fake.Spawn{Wait: true, HoldStdout: true, Steps: []fake.Step{{Stdout: "child "}}}
	stdout, _, _ := run(t, steps(fake.Step{Spawn: child}, fake.Step{Stdout: "parent"}), "")
	require.Equal(t, "child parent", stdout)
}

func TestSpawnRespawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	child := []fake.Step{{Record: file}, {Hang: true}}
	path := fake.New(t, "fake", steps(fake.Step{Spawn: &fake.Spawn{Steps: child, Respawn: true}}, fake.Step{Hang: true}))
	cmd := exec.Command(path)
	require.NoError(t, cmd.Start())
	var first fake.Record
	wait(t, func() (ok bool) { first, ok = read(file); return ok })
	require.NoError(t, syscall.Kill(first.Pid, syscall.SIGKILL))
	wait(t, func() bool { next, ok := read(file); return ok && next.Pid != first.Pid })
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

func TestSpawnSelf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links")
	path := fake.New(t, "fake", steps(fake.Step{Record: file}, fake.Step{Spawn: &fake.Spawn{Self: true, Setpgid: true}}))
	require.NoError(t, exec.Command(path).Run())
	first, ok := read(file)
	require.True(t, ok)
	wait(t, func() bool { r, ok := read(file); return ok && r.Pid != first.Pid })
	// A process that cannot write its record fails, which ends the chain. Another process may write one meanwhile.
	wait(t, func() bool { return os.RemoveAll(filepath.Dir(file)) == nil })
	wait(t, func() bool { return len(fake.Survivors(path)) == 0 })
}

// failures is a TB that counts errors instead of failing.
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
			leaks.Check(f, 200*time.Millisecond)
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
	cmd := exec.Command(fake.New(t, "fake", steps(fake.Step{Hang: true})))
	require.NoError(t, cmd.Start())
	return func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
}
