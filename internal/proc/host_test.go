//go:build linux

package proc_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

// host is a process that runs a fake.
type host struct {
	*exec.Cmd
	output *bufio.Reader
	fake   string
}

// startHost starts a host and waits until its fake has printed the line "ready".
func startHost(t *testing.T, fake string, prefix ...string) host {
	t.Helper()
	h := host{Cmd: hostCommand(t, fake), fake: fake}
	if len(prefix) > 0 {
		h.Path, h.Args = prefix[0], append(prefix, h.Args...)
	}
	output, err := h.StdoutPipe()
	require.NoError(t, err)
	h.output = bufio.NewReader(output)
	require.NoError(t, h.Start())
	t.Cleanup(func() { _, _ = h.Process.Kill(), h.Wait() })
	text, err := h.output.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", text)
	return h
}

func (h host) rest(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(h.output)
	require.NoError(t, err)
	return string(text)
}

func (h host) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, h.Process.Kill())
	_ = h.Wait() // an error, because it was killed
}

// watchdogs lists the watchdogs of a host.
func watchdogs(pid int) []fake.Survivor {
	return slices.DeleteFunc(fake.Survivors("clichain-watchdog"), func(s fake.Survivor) bool {
		return !strings.Contains(strings.Join(s.Args, " "), fmt.Sprintf(".%d.", pid))
	})
}

func TestNoProcessOutlivesHost(t *testing.T) { // case 75
	t.Parallel()
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			h := startHost(t, fake.New(t, "fake", fake.Scenario{Steps: steps(step{Spawn: &shape.spawn}, ready, hang)}))
			require.Len(t, fake.Survivors(h.fake), shape.count+1)
			h.kill(t)
			eventually(t, func() bool { return len(fake.Survivors(h.fake)) == 0 })
			eventually(t, func() bool { return len(watchdogs(h.Process.Pid)) == 0 }, "the watchdog also ends")
		})
	}
}

func TestNoProcessOutlivesHostWithoutPath(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // as if PATH contained only the directory of a CLI
	family := step{Spawn: &spawn{Steps: stubborn, Daemon: true}}
	h := startHost(t, fake.New(t, "fake", fake.Scenario{Steps: steps(family, family, family, ready, hang)}))
	require.Len(t, fake.Survivors(h.fake), 4)
	h.kill(t)
	eventually(t, func() bool { return len(watchdogs(h.Process.Pid)) == 0 })
	require.Empty(t, fake.Survivors(h.fake))
}

func TestScrubbedLeaderDiesWithHost(t *testing.T) {
	// The watchdog knows the group, so no cookie is needed.
	child := spawn{Steps: stubborn, ClearEnv: true}
	h := startHost(t, fake.New(t, "fake", fake.Scenario{Steps: steps(step{Spawn: &child}, ready, hang)}))
	h.kill(t)
	eventually(t, func() bool { return len(fake.Survivors(h.fake)) == 0 })
}

func TestWatchdogEndsWithExitingHost(t *testing.T) {
	h := startHost(t, fake.New(t, "fake", fake.Scenario{Steps: steps(ready)}))
	require.Contains(t, h.rest(t), "exit 0")
	require.NoError(t, h.Wait())
	eventually(t, func() bool { return len(watchdogs(h.Process.Pid)) == 0 })
}

func TestWatchdogIsReplaced(t *testing.T) { // case 84
	replaced := func() error {
		old := watchdogs(os.Getpid())
		require.Len(t, old, 1)
		require.NoError(t, syscall.Kill(old[0].Pid, syscall.SIGKILL))
		eventually(t, func() bool { // the next line that fails starts another watchdog
			warmUp(t)
			fresh := watchdogs(os.Getpid())
			return len(fresh) == 1 && fresh[0].Pid != old[0].Pid
		})
		return nil
	}
	result, _ := trial{
		steps: steps(ready, hang), stopWhen: "ready",
		command: proc.Command{Grace: -1, Stdout: writerFunc(func(p []byte) (int, error) { return len(p), replaced() })},
	}.run(t)
	require.Equal(t, errEnd, result.Cause)
	require.True(t, result.TreeClean)
	require.Empty(t, watchdogs(os.Getpid()), "the watchdog ends with the last run")
}

func TestSweepOrphans(t *testing.T) { // case 85
	family := fake.Scenario{Steps: steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true}}, ready, hang)}
	live := startHost(t, fake.New(t, "live", family))
	for range 10 {
		dead := startHost(t, fake.New(t, "dead", family))
		for _, w := range watchdogs(dead.Process.Pid) {
			require.NoError(t, syscall.Kill(w.Pid, syscall.SIGKILL))
		}
		dead.kill(t)
		orphans := len(fake.Survivors(dead.fake))
		killed, err := proc.SweepOrphans()
		require.NoError(t, err)
		require.Empty(t, fake.Survivors(dead.fake))
		require.Len(t, fake.Survivors(live.fake), 2)
		if orphans == 2 && killed >= 2 { // other tests may have left some
			return
		}
		// Every first call of a process sweeps, so another test was faster.
	}
	t.Fatal("other sweeps ended the orphans of ten hosts")
}

func TestHostInsideRun(t *testing.T) {
	// The inner host is killed together with its watchdog, so the outer run must find the inner daemon.
	inner := fake.New(t, "inner", fake.Scenario{Steps: steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true}}, ready, hang)})
	host := hostCommand(t, inner)
	outer := trial{command: proc.Command{Env: host.Env, Grace: -1}, stopWhen: "ready", token: inner}
	result := outer.runAt(t, host.Path)
	require.True(t, result.TreeClean)
}

func TestHostThatInheritsOrphans(t *testing.T) {
	// The host adopts orphans like the first process of a container: no other process would reap the processes
	// that the sweep has killed.
	daemon := spawn{Steps: stubborn, Daemon: true}
	h := hostCommand(t, fake.New(t, "fake", fake.Scenario{Steps: steps(step{Spawn: &daemon})}))
	h.Env = append(h.Env, hostReapVariable+"=1")
	output, err := h.Output()
	require.NoError(t, err)
	require.Contains(t, string(output), "leftovers 1 error <nil> children 0\n")
}

func TestHostWithSignalsIgnored(t *testing.T) { // cases 76, 77
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, hang)})
	t.Run("SIGINT", func(t *testing.T) {
		h := startHost(t, path, "/bin/sh", "-c", `trap '' INT; exec "$0"`)
		require.NoError(t, h.Process.Signal(syscall.SIGUSR1)) // stops the run; see hostContext
		require.Contains(t, h.rest(t), `signal "SIGTERM" soft "SIGTERM"`)
	})
	t.Run("SIGCHLD", func(t *testing.T) {
		path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, fake.Exit(41))})
		h := startHost(t, path, "/bin/sh", "-c", `trap '' CHLD; exec "$0"`)
		require.Contains(t, h.rest(t), "exit 41")
	})
}
