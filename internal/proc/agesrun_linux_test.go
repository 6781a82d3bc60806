package proc

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// leaver is a program that leaves a process behind. It prints the PID of that process.
type leaver struct {
	script  string // of a shell
	args    []string
	started func(leader int)
	left    func(pid int) // called while the program is running, if it waits for that

	output []byte
	pid    int
}

// Write receives the output.
func (l *leaver) Write(p []byte) (int, error) {
	l.output = append(l.output, p...)
	if line, _, whole := bytes.Cut(l.output, []byte("\n")); whole && l.pid == 0 {
		l.pid, _ = strconv.Atoi(string(line))
		if l.left != nil {
			l.left(l.pid)
		}
	}
	return len(p), nil
}

// run requires that no process of the program is left, after a scan has seen all older processes. It returns
// the PID of the process that the program left.
func (l leaver) run(t *testing.T) (pid int) {
	t.Helper()
	requireSetsid(t)
	require.NoError(t, system.scan(0, func([]stat) {}))
	r, err := Run(t.Context(), Command{
		Path: "/bin/sh", Args: append([]string{"sh", "-c", l.script, "sh"}, l.args...), Env: os.Environ(),
		Started: l.started, Stdout: &l, Teardown: time.Minute,
	})
	require.NoError(t, err)
	require.NoError(t, r.Cause)
	require.True(t, r.TreeClean)
	require.Positive(t, l.pid, "%q, %q", l.output, r.Stderr.Text())
	now, err := system.stat(l.pid)
	require.True(t, err != nil || !now.alive(), "the process that was left is alive")
	require.Equal(t, 1, r.Leftovers)
	return l.pid
}

// requireSetsid skips the test if scripts cannot leave a process in another session.
func requireSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skipf("setsid is not installed: %v", err)
	}
}

// daemon leaves an orphaned process in another session.
const daemon = `echo $( (setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' &) )`

// Run finds a process that starts one program after the other, which has no environment at the beginning of
// each program.
func TestRunEndsProcessThatStartsPrograms(t *testing.T) {
	for range 150 {
		script := `echo $( (setsid sh -c 'echo $$; exec sh "$1" >/dev/null 2>&1' sh "$1" &) )`
		leaver{script: script, args: []string{again(t)}}.run(t)
	}
}

// rerun runs the test again in a new process in which the environment variable is set.
func rerun(t *testing.T, variable string, attr *syscall.SysProcAttr) {
	t.Helper()
	requireSetsid(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may create a namespace and mount a /proc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"=1", "GORACE=atexit_sleep_ms=0") // the race detector would sleep for a second
	attr.Cloneflags |= unix.CLONE_NEWNS
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = attr
	output, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skip("no namespace: ", err)
	}
	t.Logf("%s", output)
	require.NoError(t, err)
	if bytes.Contains(output, []byte("--- SKIP")) {
		t.Skip("not available on this system")
	}
}

// mountProc mounts a /proc for this process, which has its own mount namespace.
func mountProc(t *testing.T, options string) {
	t.Helper()
	private := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err := errors.Join(private, unix.Mount("proc", "/proc", "proc", 0, options)); err != nil {
		t.Skip("proc cannot be mounted: ", err)
	}
}

// recycleVariable makes a test the first process of a namespace, in which it can choose PIDs.
const recycleVariable = "PROC_TEST_RECYCLE"

// Run finds a process whose PID belonged to a process older than the run.
func TestRunEndsProcessWithReusedPID(t *testing.T) {
	if os.Getenv(recycleVariable) == "" {
		rerun(t, recycleVariable, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID})
		return
	}
	mountProc(t, "")
	for range 10 {
		old := startSleep(t)
		wanted := aged(t, old.Process.Pid).pid
		ended := func(int) { _, _ = old.Process.Kill(), old.Wait() }
		// A thread of this process may take the PID first. The scan before the run has seen the old process.
		got := leaver{started: ended, args: []string{strconv.Itoa(wanted - 1), strconv.Itoa(wanted)}, script: `
			while kill -0 $2; do :; done 2>/dev/null
			for i in $(seq 1000); do
				echo $1 >/proc/sys/kernel/ns_last_pid
				setsid sleep 1000 >/dev/null 2>&1 &
				[ $! = $2 ] && break
				kill -9 $!
				wait $!
			done
			echo $!`}.run(t)
		require.Equal(t, wanted, got, "the PID was not reused")
	}
}

// The kernel counts start times in units of startTick, so a process that a run leaves may be as old as its
// program.
func TestRunEndsProcessAsOldAsProgram(t *testing.T) {
	same := 0
	for range 30 {
		var leader, left stat
		begun := make(chan struct{})
		leaver{
			script:  `setsid sleep 1000 >/dev/null 2>&1 & echo $!; read line <"$1"`,
			args:    []string{makeFIFO(t)},
			started: func(pid int) { leader, _ = system.stat(pid); close(begun) },
			left: func(pid int) {
				<-begun
				left, _ = system.stat(pid)
				// All processes of that age are known, as when another run is ending.
				_ = system.scan(0, func([]stat) {})
			},
		}.runThrough(t)
		if left.start == leader.start {
			same++
		}
	}
	t.Logf("%d of 30 as old as their program", same)
}

// runThrough runs a program that waits for a line in the FIFO that is its first argument, until left has
// returned.
func (l leaver) runThrough(t *testing.T) {
	t.Helper()
	left := l.left
	l.left = func(pid int) {
		left(pid)
		fifo, err := os.OpenFile(l.args[0], os.O_WRONLY, 0)
		if err == nil {
			_, _ = fifo.WriteString("\n")
			_ = fifo.Close()
		}
	}
	l.run(t)
}

func makeFIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	return path
}

// Run does not end a process that is older than the run and becomes a child of this process, and still finds
// all processes of the run.
func TestRunWithOlderAdoptedProcess(t *testing.T) {
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	for _, test := range []struct {
		name   string
		during bool // relative to the run
	}{{name: "before the run"}, {name: "during the run", during: true}} {
		t.Run(test.name, func(t *testing.T) {
			older, orphan := startFamily(t)
			if !test.during {
				orphan()
			}
			leaver{script: daemon + `; read line <"$1"`, args: []string{makeFIFO(t)}, left: func(int) {
				if test.during {
					orphan()
				}
			}}.runThrough(t)
			now, err := system.stat(older.pid)
			require.NoError(t, err)
			require.True(t, now.alive())
			require.Equal(t, older.start, now.start)
			require.Equal(t, os.Getpid(), now.parent)
		})
	}
}

// startFamily starts a process in another session, and its parent. orphan ends the parent.
func startFamily(t *testing.T) (child stat, orphan func()) {
	t.Helper()
	requireSetsid(t)
	parent := exec.Command("/bin/sh", "-c", `setsid sleep 1000 >/dev/null 2>&1 & echo $!; read line`)
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	stdout, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line := make([]byte, 20)
	n, err := stdout.Read(line)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = unix.Kill(pid, unix.SIGKILL), stdin.Close()
		_, _ = unix.Wait4(pid, nil, 0, nil)
	})
	return aged(t, pid), func() { _, _ = stdin.Close(), parent.Wait() }
}

// hideVariable runs a test as another user, with a /proc that hides the processes of others.
const hideVariable = "PROC_TEST_HIDE"

func TestRunWithHiddenProcesses(t *testing.T) {
	for _, option := range []string{"hidepid=1", "hidepid=2"} {
		t.Run(option, func(t *testing.T) {
			if os.Getenv(hideVariable) == "" {
				rerun(t, hideVariable, &syscall.SysProcAttr{})
				return
			}
			mountProc(t, option)
			require.NoError(t, errors.Join(syscall.Setgroups(nil), syscall.Setgid(otherUser), syscall.Setuid(otherUser)))
			_, err := os.ReadFile("/proc/1/stat")
			require.Error(t, err, "hidepid has no effect")
			for range 5 {
				leaver{script: daemon}.run(t)
			}
		})
	}
}
