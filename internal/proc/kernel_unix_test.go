//go:build unix

package proc

import (
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fakeKernel has a process table as macOS has it: without cookies, with start times that may go back, and without the
// session of a process that has ended.
type fakeKernel struct {
	table  map[int]stat
	denied map[int]bool // processes that may not be killed
	dying  int          // scans between the kill of a process and its end
	failed error        // the error of each scan
	onScan func(f *fakeKernel, scan int)
	onEnd  func(pid int)

	scans  int
	killed []int
}

func (f *fakeKernel) scan(_ uint64, see func(all []stat)) error {
	f.scans++
	if f.failed != nil {
		return f.failed
	}
	if f.onScan != nil {
		f.onScan(f, f.scans)
	}
	see(slices.Collect(maps.Values(f.table)))
	return nil
}

func (f *fakeKernel) hasCookie(int, string) (has, known bool) { return false, true }

func (f *fakeKernel) kill(s stat) error {
	now, ok := f.table[s.pid]
	switch {
	case !ok || now.start != s.start:
		return unix.ESRCH
	case f.denied[s.pid]:
		return unix.EPERM
	}
	f.end(s.pid)
	return nil
}

// unreaped is false once the leader is not in the table, or another process has its PID.
func (f *fakeKernel) unreaped(child stat) bool { return f.table[child.pid].start == child.start }

func (f *fakeKernel) signal(pid int, s syscall.Signal) error {
	for _, p := range f.table {
		if s == unix.SIGKILL && p.group == -pid && !f.denied[p.pid] {
			f.end(p.pid)
		}
	}
	return nil
}

// end makes a process a zombie, after dying scans, and gives its children to process 1.
func (f *fakeKernel) end(pid int) {
	s := f.table[pid]
	if !s.alive() {
		return
	}
	if !slices.Contains(f.killed, pid) {
		f.killed = append(f.killed, pid)
	}
	if f.dying > 0 && f.scans <= f.dying {
		return
	}
	s.state, s.session = 'Z', -1
	f.table[pid] = s
	for child, c := range f.table {
		if c.parent == pid {
			c.parent = 1
			f.table[child] = c
		}
	}
	if f.onEnd != nil {
		f.onEnd(pid)
	}
}

// tree returns the tree of the leader, process 100.
func (f *fakeKernel) tree(leader stat) *unixTree {
	done := make(chan struct{})
	f.onEnd = func(pid int) {
		if pid == leader.pid {
			close(done)
		}
	}
	m := newMembers(leader, fakeEntry(10, 1, 10, 9, 50), "cookie", func(int) bool { return false })
	m.since = 0 // as on a system whose start times may go back
	return &unixTree{
		process: &os.Process{Pid: leader.pid}, members: m, done: done,
		kernel: kernel{processTable: f, unreaped: f.unreaped, signal: f.signal},
	}
}

func fakeEntry(pid, parent, group, session int, start uint64) stat {
	return stat{pid: pid, parent: parent, group: group, session: session, start: start, state: 'S', threads: 1}
}

func TestSweepWithoutCookies(t *testing.T) {
	leader := fakeEntry(100, 10, 100, 100, 1000)
	child := fakeEntry(101, 100, 101, 101, 1001) // in its own session
	add := func(s stat) func(*fakeKernel, int) {
		return func(f *fakeKernel, _ int) { f.table[s.pid] = s }
	}
	for name, test := range map[string]struct {
		kernel fakeKernel
		table  []stat              // besides the leader and the host
		after  func(f *fakeKernel) // what happens between the last remember and the sweep
		killed []int               // in any order
		want   swept
	}{
		"leader alone":      {killed: []int{100}, want: swept{clean: true}},
		"child":             {table: []stat{child}, killed: []int{100, 101}, want: swept{clean: true, leftovers: 1}},
		"clock set back":    {table: []stat{fakeEntry(101, 100, 101, 101, 3)}, killed: []int{100, 101}, want: swept{clean: true, leftovers: 1}},
		"parent has ended":  {table: []stat{child}, after: func(f *fakeKernel) { f.end(100) }, killed: []int{100, 101}, want: swept{clean: true, leftovers: 1}},
		"orphan never seen": {table: []stat{fakeEntry(101, 1, 101, 101, 1001)}, killed: []int{100}, want: swept{clean: true}},
		"recycled PID of a child": {
			table: []stat{child}, after: func(f *fakeKernel) { f.table[101] = fakeEntry(101, 1, 101, 101, 900) },
			killed: []int{100}, want: swept{clean: true},
		},
		"recycled PID of the reaped leader": {
			table: []stat{child}, killed: []int{101}, want: swept{clean: true, leftovers: 1},
			after: func(f *fakeKernel) { // other code has reaped the leader, and another process leads its own session with that PID
				f.table[100], f.table[102] = fakeEntry(100, 1, 100, 100, 5000), fakeEntry(102, 100, 100, 100, 5001)
			},
		},
		"zombie of process 1": {
			table: []stat{child}, after: func(f *fakeKernel) { f.end(101) },
			killed: []int{101, 100}, want: swept{clean: true},
		},
		"slow death": {
			kernel: fakeKernel{dying: 5}, table: []stat{child},
			killed: []int{100, 101}, want: swept{clean: true, leftovers: 1},
		},
		"forks between scans": {
			kernel: fakeKernel{onScan: func(f *fakeKernel, scan int) {
				if scan < 5 {
					pid := 101 + scan
					add(fakeEntry(pid, 1, 100, 100, uint64(1000+scan)))(f, scan)
				}
			}},
			killed: []int{100, 102, 103, 104, 105}, want: swept{clean: true, leftovers: 4},
		},
		"forks behind a scan": { // scan 3, the first one after the kill, finds nothing
			kernel: fakeKernel{onScan: func(f *fakeKernel, scan int) {
				if scan == 4 {
					add(fakeEntry(102, 1, 100, 100, 1002))(f, scan)
				}
			}},
			killed: []int{100, 102}, want: swept{clean: true, leftovers: 1},
		},
		"may not be killed": {
			kernel: fakeKernel{denied: map[int]bool{101: true}}, table: []stat{child},
			killed: []int{100}, want: swept{leftovers: 1},
		},
		"no process table": {kernel: fakeKernel{failed: unix.ENOMEM}, table: []stat{child}, killed: []int{100}},
		"nothing else is killed": {
			table: []stat{
				fakeEntry(1, 0, 1, 1, 1), fakeEntry(9, 1, 9, 9, 40), fakeEntry(11, 10, 10, 9, 60), fakeEntry(12, 10, 12, 12, 2000),
			},
			killed: []int{100}, want: swept{clean: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := test.kernel
				f.table = map[int]stat{10: fakeEntry(10, 9, 10, 9, 50), 100: leader}
				for _, s := range test.table {
					f.table[s.pid] = s
				}
				tree := f.tree(leader)
				tree.remember()
				if test.after != nil {
					test.after(&f)
				}
				require.Equal(t, test.want, tree.sweep(time.Minute))
				require.ElementsMatch(t, test.killed, f.killed)
			})
		})
	}
}

// A process that cannot be killed does not delay the end of a sweep, and one that is slow to end delays it to the limit.
func TestSweepEnds(t *testing.T) {
	leader := fakeEntry(100, 10, 100, 100, 1000)
	for name, test := range map[string]struct {
		kernel fakeKernel
		within time.Duration
		least  time.Duration
	}{
		"may not be killed": {kernel: fakeKernel{denied: map[int]bool{100: true}}, within: 100 * time.Millisecond},
		"never ends":        {kernel: fakeKernel{dying: 1 << 30}, least: time.Second, within: 1100 * time.Millisecond},
		"no process table":  {kernel: fakeKernel{failed: unix.ENOMEM, denied: map[int]bool{100: true}}, least: time.Second, within: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := test.kernel
				f.table = map[int]stat{100: leader}
				begin := time.Now()
				require.False(t, f.tree(leader).sweep(time.Second).clean)
				require.LessOrEqual(t, time.Since(begin), test.within)
				require.GreaterOrEqual(t, time.Since(begin), test.least)
			})
		})
	}
}

// The signals of a stop reach the group of the leader until the leader is reaped.
func TestAskReachesUnreapedGroupOnly(t *testing.T) {
	type sent struct {
		pid    int
		signal syscall.Signal
	}
	for reserved, want := range map[bool][]sent{
		true: {{-100, unix.SIGINT}, {-100, unix.SIGCONT}, {-100, unix.SIGTERM}, {-100, unix.SIGCONT}}, false: nil,
	} {
		var got []sent
		tree := &unixTree{process: &os.Process{Pid: 100}, members: &members{}, kernel: kernel{
			unreaped: func(stat) bool { return reserved },
			signal:   func(pid int, s syscall.Signal) error { got = append(got, sent{pid, s}); return nil },
		}}
		tree.ask(interrupt)
		tree.ask(terminate)
		require.Equal(t, want, got)
	}
}
