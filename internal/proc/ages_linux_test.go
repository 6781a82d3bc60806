package proc

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestAges(t *testing.T) {
	now := time.Now()
	first := []age{{pid: 1, inode: 11, start: 1}, {pid: 5, inode: 15, start: 5}, {pid: 7, inode: 17, start: 7}}
	for _, test := range []struct {
		name   string
		listed age // listed by the second scan, between 1 and 7
		since  uint64
		after  time.Duration
		want   bool
	}{
		{name: "older than the run", listed: first[1], since: 6, want: true},
		{name: "as old as the run", listed: first[1], since: 5},
		{name: "younger than the run", listed: first[1], since: 4},
		{name: "all are wanted", listed: first[1]},
		{name: "another process of its id", listed: age{pid: 5, inode: 16}, since: 6},
		{name: "not known", listed: age{pid: 6, inode: 15}, since: 6},
		{name: "seen just now", listed: first[1], since: 6, after: agesLast, want: true},
		{name: "seen too long ago", listed: first[1], since: 6, after: agesLast + 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a ages
			a.begin(now)
			for _, p := range first {
				require.False(t, a.before(6, p.pid, p.inode), "no start time is known")
				a.keep(p)
			}
			a.begin(now.Add(test.after))
			fresh := test.after <= agesLast
			require.Equal(t, fresh, a.before(8, 1, 11))
			require.Equal(t, test.want, a.before(test.since, test.listed.pid, test.listed.inode))
			require.Equal(t, fresh, a.before(8, 7, 17), "the listing continues")
		})
	}
}

func TestAgesOfUnusualListings(t *testing.T) {
	var a ages
	now := time.Now()
	for range 3 {
		a.begin(now)
		require.False(t, a.before(9, 5, unknownInode), "the inode is unknown")
		a.keep(age{pid: 5, inode: unknownInode, start: 1})
	}
	for range 2 { // out of order, so some are read again
		a.begin(now)
		for _, pid := range []uint64{9, 3} {
			if !a.before(9, pid, pid) {
				a.keep(age{pid: pid, inode: pid, start: 1})
			}
		}
	}
	require.Len(t, a.next, 2)
	a.begin(now)
	require.Empty(t, a.next, "ended processes are forgotten")
	a.begin(now)
	require.Empty(t, a.known)
}

// Processes older than the run are read once, others at each scan.
func TestScanReadsOlderProcessesOnce(t *testing.T) {
	older, younger := process(5, 1, 5, 5, 100), process(6, 1, 6, 6, 300)
	p := fakeProc(t, nil, older, younger)
	scan := func(want ...stat) {
		t.Helper()
		require.ElementsMatch(t, want, scanned(t, p, 200))
	}
	scan(older, younger)
	older.group, younger.group = 1000, 1000
	writeStat(t, p, older)
	writeStat(t, p, younger)
	scan(younger)

	// Another process has the same PID, and therefore another entry.
	require.NoError(t, os.Rename(p.root+"/5", p.root+"/gone"))
	other := process(5, 1, 5, 5, 400)
	writeStat(t, p, other)
	scan(other, younger)
	scan(other, younger)
}

// If a scan is delayed while the PID of an older process is reused, it misses the younger process, as if that
// had started later. The next scan finds it.
func TestDelayedScanWithReusedPID(t *testing.T) {
	slow, older := process(7, 1, 7, 7, 300), process(8, 1, 8, 8, 100)
	p := &procfs{root: t.TempDir()}
	writeStat(t, p, slow)
	writeStat(t, p, older)
	for scanned(t, p, 0)[0] != slow { // the file system decides the order
		require.NoError(t, os.RemoveAll(p.root+"/"+strconv.Itoa(older.pid)))
		older.pid++
		require.Less(t, older.pid, 1000)
		writeStat(t, p, older)
	}
	younger := older
	younger.start = 400
	done, fifo := make(chan struct{}), p.root+"/7/stat"
	require.NoError(t, errors.Join(os.Remove(fifo), unix.Mkfifo(fifo, 0o600)))
	go func() {
		defer close(done)
		f, _ := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until it is read
		_ = os.Rename(p.root+"/"+strconv.Itoa(older.pid), p.root+"/gone")
		writeStat(t, p, younger)
		_, _ = f.WriteString(statLine("x", slow))
		_ = f.Close()
	}()
	require.Equal(t, []stat{slow}, scanned(t, p, 200))
	<-done
	require.NoError(t, os.Remove(fifo))
	writeStat(t, p, slow)
	require.Equal(t, []stat{slow, younger}, scanned(t, p, 200))
}

// scanned returns the processes that a scan finds.
func scanned(t *testing.T, p *procfs, since uint64) (all []stat) {
	t.Helper()
	require.NoError(t, p.scan(since, func(list []stat) { all = slices.Clone(list) }))
	return all
}

// writeStat adds the process to a fake /proc, or replaces it.
func writeStat(t *testing.T, p *procfs, s stat) {
	t.Helper()
	dir := p.root + "/" + strconv.Itoa(s.pid)
	assert.NoError(t, os.MkdirAll(dir, 0o700))
	assert.NoError(t, os.WriteFile(dir+"/stat", []byte(statLine("x", s)), 0o600))
}

// The kernel never shows a process under the entry of an earlier process with the same PID.
func TestScanSeesReusedPID(t *testing.T) {
	if os.Getenv(recycleVariable) == "" {
		rerun(t, recycleVariable, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID})
		return
	}
	mountProc(t, "")
	for range 20 {
		recycleID(t)
	}
}

// recycleID starts a process with the PID of an ended one, and scans like a run that began between the two.
func recycleID(t *testing.T) {
	t.Helper()
	first := startSleep(t)
	old := aged(t, first.Process.Pid)
	require.NoError(t, system.scan(0, func([]stat) {}))
	_, _ = first.Process.Kill(), first.Wait()
	for range 1000 {
		// A thread of this process may take the PID first.
		last := []byte(strconv.Itoa(old.pid - 1))
		require.NoError(t, os.WriteFile("/proc/sys/kernel/ns_last_pid", last, 0))
		second := startSleep(t)
		now, err := system.stat(second.Process.Pid)
		require.NoError(t, err)
		found := false
		if now.pid == old.pid && now.start > old.start {
			require.NoError(t, system.scan(now.start, func(all []stat) {
				for _, s := range all {
					found = found || s.pid == now.pid && s.start == now.start
				}
			}))
			require.True(t, found)
		}
		_, _ = second.Process.Kill(), second.Wait()
		if found {
			return
		}
	}
	t.Fatal("the PID was not reused")
}

// aged waits until a new process is younger than this one by the clock of /proc.
func aged(t *testing.T, pid int) stat {
	t.Helper()
	old, err := system.stat(pid)
	require.NoError(t, err)
	for {
		var now unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_BOOTTIME, &now))
		if uint64(now.Nano()/int64(startTick)) > old.start {
			return old
		}
		time.Sleep(time.Millisecond)
	}
}

// startTick is the unit of start times in /proc.
const startTick = 10 * time.Millisecond

func startSleep(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "1000")
	require.NoError(t, cmd.Start())
	return cmd
}
