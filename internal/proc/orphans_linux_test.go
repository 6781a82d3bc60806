package proc

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestOwnerGone(t *testing.T) {
	self, err := system.stat(os.Getpid())
	require.NoError(t, err)
	parts := strings.Split(hostID(), ".")
	id := func(boot, namespace, pid, start string) string {
		return strings.Join([]string{boot, namespace, pid, start, "RANDOM"}, ".")
	}
	start := strconv.FormatUint(self.start, 10)
	for name, test := range map[string]struct {
		cookie string
		want   bool
	}{
		"ours":              {hostID() + ".RANDOM", false},
		"recycled id":       {id(parts[0], parts[1], parts[2], "1"), true},
		"no such process":   {id(parts[0], parts[1], "99999999", start), true},
		"another boot":      {id("boot", parts[1], "99999999", start), false},
		"another namespace": {id(parts[0], "1", "99999999", start), false},
		"a group":           {id(parts[0], parts[1], "-99999999", start), false},
		"every process":     {id(parts[0], parts[1], "0", start), false},
		"none":              {"", false},
		"garbage":           {hostScope() + ".x.y.z", false},
		"outer gone":        {id(parts[0], parts[1], "99999999", start) + "," + hostID() + ".RANDOM", false},
		"inner gone":        {hostID() + ".RANDOM," + id(parts[0], parts[1], "99999999", start), true},
	} {
		require.Equal(t, test.want, ownerGone(system, probe, test.cookie), name)
	}
}

func TestOrphansIncludeDescendants(t *testing.T) {
	const gone = 99999999
	dead := CookieName + "=" + hostScope() + "." + strconv.Itoa(gone) + ".1.RANDOM"
	process := func(pid, parent int) stat {
		return stat{pid: pid, parent: parent, threads: 1, state: 'S', start: uint64(pid)}
	}
	zombie := process(104, 101)
	zombie.state = 'Z'
	p := fakeProc(t, map[int]string{101: dead, 1: dead, os.Getpid(): dead},
		process(1, 0), process(101, 1), process(102, 101), process(103, 102), zombie,
		process(105, 1), process(os.Getpid(), 101), process(106, os.Getpid()))
	found, _, err := p.orphans()
	require.NoError(t, err)
	var pids []int
	for _, s := range found {
		pids = append(pids, s.pid)
	}
	require.ElementsMatch(t, []int{1, 101, 102, 103}, pids, "no child of process 1 or of this process")
}

// A host that /proc does not show is not necessarily dead.
func TestOwnerHiddenByProc(t *testing.T) {
	self, err := system.stat(os.Getpid())
	require.NoError(t, err)
	ours := hostID() + ".RANDOM"
	hidden, shown := fakeProc(t, nil), fakeProc(t, nil, self)
	recycled := self
	recycled.start++
	for _, test := range []struct {
		name string
		proc *procfs
		said error // error of kill
		want bool
	}{
		{"hidden, signal allowed", hidden, nil, false},
		{"hidden, other user", hidden, unix.EPERM, false},
		{"hidden, unexpected error", hidden, unix.EINVAL, false},
		{"ended", hidden, unix.ESRCH, true},
		{"no proc, alive", &procfs{root: "/nowhere"}, unix.EPERM, false},
		{"no proc, ended", &procfs{root: "/nowhere"}, unix.ESRCH, true},
		{"shown", shown, unix.ESRCH, false},
		{"PID reused", fakeProc(t, nil, recycled), unix.EPERM, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := func(pid int) error {
				require.Equal(t, os.Getpid(), pid)
				return test.said
			}
			require.Equal(t, test.want, ownerGone(test.proc, said, ours))
		})
	}
	require.False(t, ownerGone(hidden, probe, ours), "this process is alive")
}

// hiddenVariable makes TestSweepOrphansWithHiddenHosts the sweeping process.
const hiddenVariable = "PROC_TEST_HIDDEN"

// otherUser is the ID of a user that does not run the tests.
const otherUser = 65534

// Root runs a host. Another user, who sees only the processes of that user, sweeps.
func TestSweepOrphansWithHiddenHosts(t *testing.T) {
	if os.Getenv(hiddenVariable) != "" {
		sweepHidden()
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a /proc")
	}
	sleep := exec.Command("/bin/sleep", "1000")
	sleep.Env = []string{CookieName + "=" + newCookie()} // this process is its host
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	require.NoError(t, sleep.Start())
	t.Cleanup(func() { _, _ = sleep.Process.Kill(), sleep.Wait() })

	sweep := exec.Command(os.Args[0], "-test.run=^TestSweepOrphansWithHiddenHosts$")
	sweep.Env = append(os.Environ(), hiddenVariable+"="+strconv.Itoa(os.Getpid()))
	sweep.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	output, err := sweep.CombinedOutput()
	if reason, found := strings.CutPrefix(string(output), "skip: "); found {
		t.Skip(reason)
	}
	if sweep.ProcessState == nil {
		t.Skip("no mount namespace: ", err)
	}
	require.NoError(t, err, "%s", output)
	now, err := system.stat(sleep.Process.Pid)
	require.NoError(t, err)
	require.True(t, now.alive(), "its host is alive, so the sweep must spare it")
}

// sweepHidden sweeps as another user, with a /proc that hides the processes of other users, and exits. Since
// Linux 5.8 a new mount has its own options; a remount would change those of all mounts.
func sweepHidden() {
	exit := func(status int, text ...string) {
		_, _ = os.Stdout.WriteString(strings.Join(text, ""))
		syscall.Exit(status)
	}
	hostScope() // while everything is readable
	if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid=2"); err != nil {
		exit(0, "skip: proc cannot be mounted: ", err.Error())
	}
	// Group 0 sees everything, so leave it too.
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(otherUser), syscall.Setuid(otherUser)); err != nil {
		exit(1, err.Error())
	}
	if _, err := os.Stat("/proc/" + os.Getenv(hiddenVariable)); err == nil {
		exit(0, "skip: hidepid has no effect on this system")
	}
	if _, err := SweepOrphans(); err != nil {
		exit(1, err.Error())
	}
	exit(0)
}
