package proc

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/stretchr/testify/require"
)

func TestUnresponsiveWatchdogIsReplaced(t *testing.T) { // case 84
	w := &watchdog{}
	w.hold()
	t.Cleanup(w.release)
	old := w.process.Pid
	require.NoError(t, w.process.Signal(syscall.SIGSTOP))
	require.NoError(t, w.life.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	_, err := w.life.Write(make([]byte, 1<<20)) // fills the pipe
	require.True(t, errors.Is(err, os.ErrDeadlineExceeded))
	w.enter(stat{pid: 1 << 30})
	require.NotEqual(t, old, w.process.Pid)
}

func TestWatchdogLeads(t *testing.T) {
	leader := 0
	_, err := Run(t.Context(), Command{Path: "/bin/true", Started: func(pid int) {
		require.True(t, guard.leads(pid))
		require.False(t, guard.leads(os.Getpid()))
		leader = pid
	}})
	require.NoError(t, err)
	require.False(t, guard.leads(leader))
}

// When the first run starts, the watchdog reads the process table. A scan for a run that has a shim asks the watchdog for
// the leaders at the same time. Neither waits for the other.
func TestScanDuringFirstHold(t *testing.T) {
	usualOrphans, usualGuard := orphans, guard
	t.Cleanup(func() { orphans, guard = usualOrphans, usualGuard })
	scans := 0
	orphans = &inheritance{
		left:       stat{pid: 1 << 30}, // recorded long ago
		cannotReap: func() bool { return false },
		stat: func(int) (stat, error) {
			return stat{}, system.scan(0, func([]stat) {
				scans++
				require.False(t, guard.leads(1<<30))
			})
		},
	}
	guard = &watchdog{}
	guard.hold()
	guard.release()
	require.Equal(t, 1, scans)
}

func TestWatchdogLearnsAllGroupsAgain(t *testing.T) {
	group, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	require.NoError(t, err)
	s, err := system.stat(group.Pid)
	require.NoError(t, err)
	w := &watchdog{}
	w.enter(s)
	require.NoError(t, w.process.Kill())
	_, err = w.process.Wait()
	require.NoError(t, err)
	w.enter(stat{pid: 1 << 30}) // no such group; the broken pipe makes it start another watchdog
	w.leave(stat{pid: 1 << 30})
	require.NoError(t, w.life.Close()) // as if this process had died
	state, err := group.Wait()
	require.NoError(t, err)
	require.Equal(t, syscall.SIGKILL, state.Sys().(syscall.WaitStatus).Signal())
	_, err = w.process.Wait()
	require.NoError(t, err)
}

// eachWatchdog calls test with the ways in which a watchdog may run, for a host that has ended.
func eachWatchdog(t *testing.T, test func(t *testing.T, shell string, args []string)) {
	gone := []string{"sh", "-c", watchdogScript, watchdogName, "", t.TempDir() + "/grep", t.TempDir() + "/sleep"}
	for _, shell := range []string{"sh", "dash", "bash", "busybox"} {
		for _, how := range []struct {
			name string
			args []string
		}{
			{"programs", watchdogArgs("", programDirs)},
			{"no programs", watchdogArgs("", nil)},
			{"programs that are gone", gone},
		} {
			t.Run(shell+"/"+how.name, func(t *testing.T) {
				path := programAt(programDirs, shell)
				if path == "" {
					t.Skip("not installed")
				}
				// The host's ID is a prefix of the ID of a live host. A concurrent sweep for orphans does not
				// know it.
				how.args[4] = hostID()[:len(hostID())-1]
				test(t, path, how.args)
			})
		}
	}
}

// The watchdog works the same in every shell and without any programs.
func TestWatchdogNeedsNoPath(t *testing.T) { eachWatchdog(t, watchdogKills) }

// family starts a leader with a child and a grandchild in other sessions, whose environment is cleared.
func family(t *testing.T) (path string, leader stat) {
	t.Helper()
	hang := fake.Step{Hang: true}
	grandchild := fake.Spawn{Steps: []fake.Step{hang}, Setsid: true, ClearEnv: true}
	child := fake.Spawn{Steps: []fake.Step{{Spawn: &grandchild}, hang}, Setsid: true, ClearEnv: true}
	path = fake.New(t, "fake", fake.Scenario{Steps: []fake.Step{{Spawn: &child}, hang}})
	cmd := exec.Cmd{Path: path, Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	require.Eventually(t, func() bool { return len(fake.Survivors(path)) == 3 }, time.Minute, time.Millisecond)
	leader, err := system.stat(cmd.Process.Pid)
	require.NoError(t, err)
	return path, leader
}

func TestWatchdogKillsDescendants(t *testing.T) {
	eachWatchdog(t, func(t *testing.T, shell string, args []string) {
		path, leader := family(t)
		watchdog := exec.Cmd{Path: shell, Args: args, Env: []string{"PATH=" + t.TempDir()}, Dir: "/"}
		watchdog.Stdin = strings.NewReader(line('+', leader))
		require.NoError(t, watchdog.Run())
		require.Empty(t, fake.Survivors(path))
	})
}

// A process that got the PID of a dead leader, and its descendants, are neither killed nor stopped. The same
// applies to a group that the host has removed.
func TestWatchdogSparesReusedPID(t *testing.T) {
	eachWatchdog(t, func(t *testing.T, shell string, args []string) {
		path, leader := family(t)
		watchdog := exec.Cmd{Path: shell, Args: args, Env: []string{"PATH=" + t.TempDir()}, Dir: "/"}
		earlier := stat{pid: leader.pid, start: leader.start - 1}
		watchdog.Stdin = strings.NewReader(line('+', earlier) + line('+', leader) + line('-', leader))
		require.NoError(t, watchdog.Run())
		found := fake.Survivors(path)
		require.Len(t, found, 3)
		for _, p := range found {
			now, err := system.stat(p.Pid)
			require.NoError(t, err)
			require.NotContains(t, "Tt", string(now.state))
		}
	})
}

// watchdogKills checks that the watchdog of an ended host kills exactly the processes with its cookie.
func watchdogKills(t *testing.T, shell string, args []string) {
	t.Helper()
	cookie := CookieName + "=" + args[4] + ".RANDOM"
	long := "A=" + strings.Repeat("x", 5000)
	sleeper := func(env ...string) *exec.Cmd {
		cmd := &exec.Cmd{Path: "/bin/sleep", Args: []string{"sleep", "1000"}, Env: env}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		return cmd
	}
	ours := []*exec.Cmd{
		sleeper(cookie), sleeper(cookie, "PATH=/bin"), sleeper("PATH=/bin", cookie),
		sleeper(long, "B=1\n2\n", cookie, "C="),
		sleeper(CookieName + "=outer.1.2.3.RANDOM," + args[4] + ".RANDOM"),
	}
	strangers := []*exec.Cmd{sleeper(), sleeper(CookieName + "=" + hostID() + ".RANDOM"), sleeper(long, "B=\n")}

	// Its input has ended from the start.
	watchdog := exec.Cmd{Path: shell, Args: args, Env: []string{"PATH=" + t.TempDir()}, Dir: "/"}
	require.NoError(t, watchdog.Run())
	for i, cmd := range ours {
		now, err := system.stat(cmd.Process.Pid)
		require.NoError(t, err)
		require.False(t, now.alive(), "%d survives", i)
	}
	for i, cmd := range strangers {
		now, err := system.stat(cmd.Process.Pid)
		require.NoError(t, err)
		require.True(t, now.alive(), "stranger %d", i)
	}
}

func TestProgramAt(t *testing.T) {
	empty, full, other := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(empty+"/grep", 0o700))
	require.NoError(t, os.WriteFile(empty+"/sleep", nil, 0o600))
	for _, path := range []string{full + "/grep", full + "/sleep", other + "/grep"} {
		require.NoError(t, os.WriteFile(path, nil, 0o700))
	}
	for _, test := range []struct {
		name, program, want string
		dirs                []string
	}{
		{"no directories", "grep", "", nil},
		{"first match", "grep", full + "/grep", []string{full, other}},
		{"directory with the name", "grep", other + "/grep", []string{empty, other}},
		{"file that is not executable", "sleep", full + "/sleep", []string{empty, full}},
		{"nowhere", "sleep", "", []string{"/nowhere", empty, other}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, programAt(test.dirs, test.program))
		})
	}
}
