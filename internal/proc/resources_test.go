//go:build linux

package proc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// leaveFree uses up all descriptors except n until restore is called.
func leaveFree(t *testing.T, n int) (restore func()) {
	t.Helper()
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 256, Max: old.Max}))
	var held []int
	for {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		held = append(held, fd)
	}
	for ; n > 0; n-- {
		_ = syscall.Close(held[0])
		held = held[1:]
	}
	return func() {
		for _, fd := range held {
			_ = syscall.Close(fd)
		}
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	}
}

func TestOutOfDescriptors(t *testing.T) { // case 11
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(step{Stdout: "ran"}, fake.Exit(7))})
	warmUp(t)
	fake.NoLeaks(t)
	for name, shim := range map[string]bool{"plain": false, "shim": true} {
		succeeded := false
		for free := range 24 {
			restore := leaveFree(t, free)
			result, err := proc.Run(t.Context(), proc.Command{Path: path, Stdin: []byte("x"), Shim: shim})
			restore()
			require.Empty(t, fake.Survivors(path))
			if succeeded = err == nil; succeeded {
				require.Equal(t, 7, result.ExitCode, "%s, %d free", name, free)
				require.Equal(t, "ran", result.Stdout.Text())
				continue
			}
			var e *proc.SpawnError
			require.ErrorAs(t, err, &e, "%s, %d free", name, free)
			require.True(t, e.Retryable(), "%s, %d free: %v", name, free, err)
		}
		require.True(t, succeeded, "%s: a run succeeds with enough descriptors", name)
	}
}

func TestManyRunsNeedFewThreads(t *testing.T) { // case 82
	h := hostCommand(t, fake.New(t, "fake", fake.Scenario{Steps: steps(step{Sleep: 300 * time.Millisecond})}))
	h.Env = append(h.Env, hostCountVariable+"=64")
	output, err := h.Output()
	require.NoError(t, err)
	var threads int
	_, err = fmt.Sscanf(string(output), "threads %d", &threads)
	require.NoError(t, err, string(output))
	t.Logf("%d threads", threads)
	require.LessOrEqual(t, threads, 40)
}

// runMany is a host that runs many programs concurrently and prints its number of threads.
func runMany(path string, count int) {
	var all sync.WaitGroup
	for range count {
		all.Go(func() {
			if r, err := proc.Run(hostContext(), proc.Command{Path: path}); err != nil || r.ExitCode != 0 || !r.TreeClean {
				fmt.Printf("%+v %v\n", r, err)
			}
		})
	}
	all.Wait()
	threads, _ := filepath.Glob("/proc/self/task/*") // the Go runtime never ends idle threads
	fmt.Println("threads", len(threads))
}

func TestLostThreadsDoNotKillPrograms(t *testing.T) { // case 79
	strongModes(t, func(t *testing.T, c proc.Command) {
		stop := make(chan struct{})
		var dropper sync.WaitGroup
		dropper.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					runtime.LockOSThread() // the thread ends with the goroutine
				}()
				<-done
			}
		})
		for range 4 {
			result, _ := trial{steps: steps(step{Sleep: 20 * time.Millisecond}, fake.Exit(3)), command: c}.run(t)
			require.Equal(t, 3, result.ExitCode)
		}
		close(stop)
		dropper.Wait()
	})
}

func TestNoControllingTerminal(t *testing.T) { // case 80
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()

	path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, step{Open: "/dev/tty"})})
	h := hostCommand(t, path)
	h.Stdin = terminal
	h.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	output, err := h.Output()
	require.NoError(t, err)
	require.Contains(t, string(output), "no such device or address")
	require.Contains(t, string(output), "exit 0")
}

func TestFrozenProgram(t *testing.T) { // case 74
	group := "/sys/fs/cgroup/freezer/clichain-test-" + strconv.Itoa(os.Getpid())
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("no freezer: ", err)
	}
	t.Cleanup(func() { eventually(t, func() bool { return !errors.Is(os.Remove(group), syscall.EBUSY) }) })
	freeze := func(state string) error { return os.WriteFile(group+"/freezer.state", []byte(state), 0) }
	path := fake.New(t, "fake", fake.Scenario{Steps: steps(ready, hang)})
	warmUp(t)
	fake.NoLeaks(t) // also waits until the program is reaped
	begin := time.Now()
	result, err := proc.Run(t.Context(), proc.Command{
		Path: path, Grace: -1, Teardown: 200 * time.Millisecond, Drain: 100 * time.Millisecond,
		Stdout: writerFunc(func([]byte) (int, error) {
			for _, s := range fake.Survivors(path) {
				if err := os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(s.Pid)), 0); err != nil {
					return 0, err
				}
			}
			if err := freeze("FROZEN"); err != nil {
				return 0, err
			}
			return 0, errEnd
		}),
	})
	took := time.Since(begin)
	require.NoError(t, freeze("THAWED"))
	require.NoError(t, err)
	testtime.Took(t, took, margin)
	require.Equal(t, errEnd, result.Cause)
	require.False(t, result.TreeClean)
	require.Equal(t, -1, result.ExitCode)
	eventually(t, func() bool { return len(fake.Survivors(path)) == 0 })
}

func TestProcessOfAnotherUser(t *testing.T) { // case 71
	setpriv, err := os.ReadFile("/usr/bin/setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and setpriv")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	become := filepath.Join(dir, "become")
	syscall.ForkLock.RLock() // no fork while the file is open for writing
	err = os.WriteFile(become, setpriv, 0o755)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	require.NoError(t, os.Chmod(become, os.ModeSetuid|0o755))

	// A host of an unprivileged user runs a shell that starts a process of root, through a set-user-ID program.
	token := fmt.Sprintf("1000.%d", os.Getpid())
	script := fmt.Sprintf(`%s --reuid=0 /bin/sleep %s >/dev/null 2>&1 & until [ "$(cat /proc/$!/comm)" = sleep ]; do [ -d /proc/$! ] || exit 1; done; echo ready`, become, token)
	h := hostCommand(t, "/bin/sh", "-c", script)
	h.Env = append(h.Env, hostUserVariable+"=65534")
	begin := time.Now()
	output, err := h.Output()
	took := time.Since(begin)
	left := fake.Survivors(token)
	for _, s := range left {
		require.NoError(t, syscall.Kill(s.Pid, syscall.SIGKILL))
	}
	require.NoError(t, err)
	testtime.Took(t, took, margin)
	require.Len(t, left, 1, string(output))
	require.Contains(t, string(output), "clean false leftovers 1")
	require.True(t, strings.HasPrefix(string(output), "ready\n"))
}
