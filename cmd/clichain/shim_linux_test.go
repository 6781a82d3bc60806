package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/stretchr/testify/require"
)

// The command puts a shim between itself and each CLI. A program that has left its parent and cleared its environment
// must not outlive the answer, the timeout or the command.
func TestCommandTerminatesEscapedProcesses(t *testing.T) {
	t.Parallel()
	escapee := clitest.Step{Spawn: &clitest.Spawn{Daemon: true, ClearEnv: true, Steps: []clitest.Step{{Hang: true}}, Args: []string{"escapee"}}}
	hang := clitest.Step{Hang: true}
	for _, test := range []struct {
		name string
		last []clitest.Step
		flag string
		end  func(t *testing.T, cmd *exec.Cmd)
		code int
	}{
		{"answer", []clitest.Step{{Stdout: "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"fine\"}\n"}}, "", nil, 0},
		{"timeout", []clitest.Step{hang}, "--timeout=3s", nil, console.ExitTimeout},
		{"kill", []clitest.Step{hang}, "", func(t *testing.T, cmd *exec.Cmd) { require.NoError(t, cmd.Process.Kill()) }, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path, err := clitest.Install(w.bin, "claude", clitest.Scenario{
				Steps: append([]clitest.Step{{ReadStdin: true}, escapee}, test.last...),
			})
			require.NoError(t, err)
			args := []string{"ask", "--only", "claude", "hi"}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			cmd := w.command(args...)
			require.NoError(t, cmd.Start())
			if test.end != nil {
				awaitDaemon(t, path, "escapee")
				test.end(t, cmd)
			}
			_ = cmd.Wait() // the test checks the exit code
			require.Equal(t, test.code, cmd.ProcessState.ExitCode())
			if test.end == nil {
				require.Empty(t, clitest.Survivors(path))
			}
			require.Eventually(t, func() bool { return len(clitest.Survivors(path)) == 0 }, time.Minute, time.Millisecond)
		})
	}
}

// A shim must start before most packages are initialized, because their initialization takes longer than all work of
// the shim.
func TestShimInitializesFewPackages(t *testing.T) {
	t.Parallel()
	cmd := &exec.Cmd{Path: program(), Args: []string{"clichain-shim"}, Env: []string{"GODEBUG=inittrace=1"}}
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "it has no host")
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
	require.Contains(t, string(out), "init runtime ")
	require.NotContains(t, string(out), "init github.com/clichain/clichain/jetstream ")
	require.NotContains(t, string(out), "init github.com/nats-io/nats-server/v2/server ")
}

// If a host and its shim were killed, the next host must terminate the processes that they left.
func TestAskTerminatesOrphans(t *testing.T) {
	w := newWorld(t)
	daemon := clitest.Step{Spawn: &clitest.Spawn{Daemon: true, Steps: []clitest.Step{{Hang: true}}, Args: []string{"orphan"}}}
	path, err := clitest.Install(w.bin, "codex", clitest.Scenario{Steps: []clitest.Step{daemon, {Hang: true}}})
	require.NoError(t, err)
	host := w.command("ask", "--only", "codex", "hi")
	host.Env = append(host.Env, "TMPDIR="+t.TempDir()) // a killed host cannot remove its temporary files
	require.NoError(t, host.Start())
	awaitDaemon(t, path, "orphan")
	stop(t, host.Process) // the host would terminate the processes that its shim leaves
	for _, shim := range clitest.Survivors("clichain-shim") {
		if parentOf(t, shim.Pid) == host.Process.Pid {
			require.NoError(t, syscall.Kill(shim.Pid, syscall.SIGKILL))
		}
	}
	require.Eventually(t, func() bool { return len(clitest.Survivors(path)) == 1 }, time.Minute, time.Millisecond, "the CLI dies with its shim, and leaves an orphan")
	require.NoError(t, host.Process.Kill()) // from now on every host of this user may terminate the orphan, also those of other tests
	require.Error(t, host.Wait())

	w.fake("claude", "answer", "fine")
	out, err := w.command("ask", "--only", "claude", "hi").Output()
	require.NoError(t, err, "%s", out)
	require.Empty(t, clitest.Survivors(path))
}

// awaitDaemon waits until the fake has started the daemon with that argument. A number of processes would not show it,
// because Go starts a short process before the first child.
func awaitDaemon(t *testing.T, path, arg string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(clitest.Survivors(path), func(s clitest.Survivor) bool { return slices.Contains(s.Args, arg) })
	}, time.Minute, time.Millisecond)
}

// stop returns when all threads of the child have stopped. A signal alone stops them at some later time.
func stop(t *testing.T, child *os.Process) {
	t.Helper()
	require.NoError(t, child.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(child.Pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
		return err == nil && pid == child.Pid && status.Stopped()
	}, time.Minute, time.Millisecond)
}

// parentOf returns the parent of a process, or 0 if the process has exited.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "PPid:")
	parent, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
	require.NoError(t, err)
	return parent
}
