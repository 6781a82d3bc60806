package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// statLine returns a line in the format of the kernel.
func statLine(name string, s stat) string {
	return fmt.Sprintf("%d (%s) %c %d %d %d 0 -1 4194304 90 0 0 0 0 0 0 0 20 0 %d 0 %d 2703360 0 18446744073709551615\n",
		s.pid, name, s.state, s.parent, s.group, s.session, s.threads, s.start)
}

func TestParseStat(t *testing.T) {
	want := stat{pid: 42, parent: 7, group: 40, session: 4, threads: 3, state: 'S', start: 123456789}
	for _, name := range []string{"sh", "", "a b", "a) R 1 2 3", "(sd-pam)", "x\ny", ") Z 0 0"} {
		got, err := parseStat([]byte(statLine(name, want)))
		require.NoError(t, err, "%q", name)
		require.Equal(t, want, got, "%q", name)
	}
	for _, bad := range []string{"", "42", "42 (sh", "42 (sh)", "42 (sh) S", "42 (sh) S 1 2 3", "x (sh) S" + strings.Repeat(" 1", 30), "0 (sh) S" + strings.Repeat(" 1", 30)} {
		_, err := parseStat([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("sh", 42, 1, uint64(5))
	f.Add(") R 1", 1, 0, uint64(0))
	f.Fuzz(func(t *testing.T, name string, pid, parent int, start uint64) {
		if pid <= 0 || parent < 0 {
			t.Skip("no such PIDs")
		}
		want := stat{pid: pid, parent: parent, threads: 1, state: 'R', start: start}
		got, err := parseStat([]byte(statLine(name, want)))
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, _ = parseStat([]byte(name)) // must not panic
	})
}

func TestAlive(t *testing.T) {
	for _, test := range []struct {
		state   byte
		threads int
		want    bool
	}{
		{'R', 1, true}, {'S', 4, true}, {'D', 1, true}, {'T', 1, true},
		{'Z', 1, false}, {'Z', 0, false}, {'X', 1, false},
		{'Z', 2, true}, // the first thread has ended, another is running
	} {
		require.Equal(t, test.want, stat{state: test.state, threads: test.threads}.alive(), "%c %d", test.state, test.threads)
	}
}

// fakeProc creates a /proc with the given processes and environments.
func fakeProc(t *testing.T, environs map[int]string, list ...stat) *procfs {
	t.Helper()
	root := t.TempDir()
	for _, s := range list {
		dir := filepath.Join(root, strconv.Itoa(s.pid))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(dir+"/stat", []byte(statLine("x", s)), 0o600))
		require.NoError(t, os.WriteFile(dir+"/environ", []byte(environs[s.pid]), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "sys"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "9999"), 0o700)) // an ended process: no files
	return &procfs{root: root}
}

func TestScan(t *testing.T) {
	var list []stat
	for pid := 1; pid <= 700; pid++ { // more than one block of directory entries
		list = append(list, stat{pid: pid, threads: 1, state: 'S', start: uint64(pid)})
	}
	p := fakeProc(t, nil, list...)
	for range 2 {
		require.NoError(t, p.scan(0, func(all []stat) { require.ElementsMatch(t, list, all) }))
	}
}

func TestHasCookieAtAnyPosition(t *testing.T) {
	const cookie = "boot.1.2.3.RANDOM"
	block := 16 << 10
	for _, before := range []int{0, 1, block - len(cookie), block - len(cookie) + 1, block - 1, block, 5*block - 3} {
		environ := strings.Repeat("x", before) + cookie + strings.Repeat("y", 100)
		p := fakeProc(t, map[int]string{5: environ, 6: strings.Repeat("x", before) + "boot.1.2.3.RANDON"},
			stat{pid: 5, state: 'S'}, stat{pid: 6, state: 'S'})
		require.NoError(t, p.scan(0, func([]stat) {
			for pid, want := range map[int]bool{5: true, 6: false, 9999: false} {
				has, known := p.hasCookie(pid, cookie)
				require.Equal(t, want, has, "%d after %d", pid, before)
				require.True(t, known)
			}
		}))
	}
}

// A process with an empty environment is starting a program, unless the kernel reports that it has an
// environment.
func TestEmptyEnvironment(t *testing.T) {
	line := func(state string, flags, endCode, envStart, envEnd int) string {
		return fmt.Sprintf("5 (a) b) %s 1 5 5 0 -1 %d%s %d%s %d %d 0\n", state, flags, strings.Repeat(" 0", 17), endCode,
			strings.Repeat(" 0", 22), envStart, envEnd)
	}
	for _, test := range []struct {
		name, stat string
		known      bool
	}{
		{"starting a program", line("R", 4194304, 0, 0, 0), false},
		{"environment begins", line("R", 4194304, 0, 7, 7), false},
		{"program started in the meantime", line("R", 4194304, 9, 7, 8), false},
		{"without variables", line("S", 4194304, 9, 7, 7), true},
		{"kernel thread", line("I", 69238880, 0, 0, 0), true},
		{"ended", line("Z", 4194316, 0, 0, 0), true},
		{"old kernel", "5 (a) R 1 5 5 0 -1 4194304 90 0 0 0", true},
		{"no such process", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := fakeProc(t, nil, stat{pid: 5, state: 'S'})
			require.NoError(t, os.WriteFile(p.root+"/5/stat", []byte(test.stat), 0o600))
			p.allocate()
			has, known := p.hasCookie(5, "cookie")
			require.False(t, has)
			require.Equal(t, test.known, known)
			cookie, known := p.cookieOf(5)
			require.Empty(t, cookie)
			require.Equal(t, test.known, known)
		})
	}
}

// A process that starts one program after the other has the cookie, or is known to be starting a program.
func TestHasCookieWhileProgramsStart(t *testing.T) {
	cmd := exec.Command("/bin/sh", again(t))
	cmd.Env = append(os.Environ(), CookieName+"=the-cookie-of-a-test")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	p, unknown := &procfs{root: "/proc"}, 0
	p.allocate()
	for range 20_000 {
		has, known := p.hasCookie(cmd.Process.Pid, "the-cookie-of-a-test")
		require.True(t, has || !known)
		if !known {
			unknown++
		}
	}
	t.Logf("%d of 20000 times unknown", unknown)
}

// again is a shell script that replaces itself forever.
func again(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "again")
	require.NoError(t, os.WriteFile(path, []byte(`exec /bin/sh "$0"`), 0o600))
	return path
}

func TestKillSparesReusedPID(t *testing.T) { // case 70
	cmd := exec.Command("/bin/sleep", "1000")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	now, err := system.stat(cmd.Process.Pid)
	require.NoError(t, err)
	recycled := now
	recycled.start-- // as if another process had had the PID when it was seen
	for name, kill := range map[string]func(stat) error{"pidfd": system.kill, "id": system.killByID} {
		require.Equal(t, unix.ESRCH, kill(recycled), name)
		after, err := system.stat(now.pid)
		require.NoError(t, err)
		require.True(t, after.alive(), name)
	}
	require.NoError(t, system.killByID(now))
	require.Error(t, cmd.Wait())
	require.Equal(t, unix.ESRCH, system.kill(now))
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "42": 42, "18446744073709551615": 1<<64 - 1} {
		n, ok := number([]byte(text))
		require.True(t, ok)
		require.Equal(t, want, n)
	}
	for _, bad := range []string{"", "-1", "1a", " 1"} {
		_, ok := number([]byte(bad))
		require.False(t, ok, bad)
	}
	require.False(t, bytes.Contains([]byte(newCookie()), []byte(",")), "commas separate nested cookies")
}
