package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// namespaceVariable marks a host that runs in a PID namespace.
const namespaceVariable = "PROC_TEST_NAMESPACE"

// seeNamespace mounts the /proc of this process's namespace.
func seeNamespace() {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "")
	}
	if err != nil {
		fmt.Println("mount:", err)
		syscall.Exit(70)
	}
}

// startFirst starts the first process of a PID namespace.
func startFirst(t *testing.T) *os.Process {
	t.Helper()
	first := exec.Command("sleep", "600")
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	err := first.Start()
	if os.IsPermission(err) || os.Geteuid() != 0 {
		t.Skip("this user cannot create namespaces")
	}
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = first.Process.Kill(), first.Wait() })
	return first.Process
}

// outputIn runs a command in the namespace of its first process.
func outputIn(t *testing.T, first *os.Process, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Env = append(cmd.Env, namespaceVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	var output []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not unlocked: the thread must not be reused
		var space *os.File
		if space, err = os.Open(fmt.Sprintf("/proc/%d/ns/pid", first.Pid)); err != nil {
			return
		}
		defer space.Close()
		if err = unix.Setns(int(space.Fd()), unix.CLONE_NEWPID); err == nil {
			output, err = cmd.Output()
		}
	}()
	<-done
	require.NoError(t, err, "%s", output)
	return string(output)
}

// zombies lists the children of a process that it has not reaped.
func zombies(parent *os.Process) (list []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, path := range stats {
		line, _ := os.ReadFile(path) // on error, the process has ended
		if strings.Contains(string(line), fmt.Sprintf(") Z %d ", parent.Pid)) {
			list = append(list, string(line))
		}
	}
	return list
}

// Every container whose first process is "tail", "sleep" or a program that waits only for its own children is
// in this situation.
func TestProcessOneThatDoesNotReap(t *testing.T) {
	t.Parallel()
	for name, scenario := range map[string][]step{
		"nothing left":   {ready},
		"children":       {{Spawn: &spawn{Steps: stubborn, Count: 3}}, ready},
		"own sessions":   {{Spawn: &spawn{Steps: stubborn, Setsid: true}}, {Spawn: &spawn{Steps: stubborn, Daemon: true}}, ready},
		"family":         {{Spawn: &spawn{Steps: []step{{Spawn: &spawn{Steps: stubborn, Setsid: true}}, hang}}}, ready},
		"crash":          {{Spawn: &spawn{Steps: stubborn, Count: 2}}, {Kill: "KILL"}},
		"ends by itself": {{Spawn: &spawn{Steps: steps(step{Sleep: 2 * time.Second}), Daemon: true}}, {Sleep: 4 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			first := startFirst(t)
			h := hostCommand(t, fake.New(t, "fake", fake.Scenario{Steps: scenario}))
			require.Contains(t, outputIn(t, first, h), "clean true")
			require.Empty(t, zombies(first))
		})
	}
}

// Run does not reap the host's own children, even if this process adopts orphaned processes of the runs.
func TestRunDoesNotReapOtherChildren(t *testing.T) {
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	own := exec.Command("/bin/sh", "-c", "exit 7")
	own.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	result, _ := trial{
		steps: steps(step{Spawn: &spawn{Steps: stubborn, Daemon: true}}, ready, hang), stopWhen: "ready",
		command: proc.Command{Grace: -1, Stdout: writerFunc(func(p []byte) (int, error) { return len(p), own.Start() })},
	}.run(t)
	require.True(t, result.TreeClean)
	_ = own.Wait() // ExitCode shows the result
	require.Equal(t, 7, own.ProcessState.ExitCode())
}
