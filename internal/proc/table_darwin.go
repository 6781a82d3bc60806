package proc

import (
	"time"
	"unsafe"

	"github.com/clichain/clichain/internal/proc/internal/kinfo"
	"golang.org/x/sys/unix"
)

// The compiler compares the layout that kinfo parses with the declaration of package unix: an index other than 0 is out
// of range.
var (
	entry unix.KinfoProc
	_     = [1]int{}[unsafe.Sizeof(entry)-kinfo.Size]
	_     = [1]int{}[unsafe.Offsetof(entry.Proc)+unsafe.Offsetof(entry.Proc.P_starttime)+
		unsafe.Offsetof(entry.Proc.P_starttime.Sec)-kinfo.StartSeconds]
	_ = [1]int{}[unsafe.Offsetof(entry.Proc)+unsafe.Offsetof(entry.Proc.P_starttime)+
		unsafe.Offsetof(entry.Proc.P_starttime.Usec)-kinfo.StartMicros]
	_ = [1]int{}[unsafe.Offsetof(entry.Proc)+unsafe.Offsetof(entry.Proc.P_stat)-kinfo.State]
	_ = [1]int{}[unsafe.Offsetof(entry.Proc)+unsafe.Offsetof(entry.Proc.P_pid)-kinfo.PID]
	_ = [1]int{}[unsafe.Offsetof(entry.Eproc)+unsafe.Offsetof(entry.Eproc.Ppid)-kinfo.Parent]
	_ = [1]int{}[unsafe.Offsetof(entry.Eproc)+unsafe.Offsetof(entry.Eproc.Pgid)-kinfo.Group]
)

// startsAreMonotonic is false, because start times are from the wall clock, which may be set back.
const startsAreMonotonic = false

// rememberEvery returns an interval because there is no cookie: on this system, the environment of other
// processes is not reliable. A member must be seen before it becomes an orphan.
func rememberEvery() time.Duration { return time.Second }

type table struct{}

var system table

func (table) scan(_ uint64, see func(all []stat)) error {
	list, err := read("kern.proc.all")
	if err != nil {
		return err
	}
	all := make([]stat, 0, len(list))
	for _, p := range list {
		all = append(all, statOf(p))
	}
	see(all)
	return nil
}

func (table) stat(pid int) (stat, error) {
	list, err := read("kern.proc.pid", pid)
	if err != nil {
		return stat{}, err
	}
	if len(list) == 0 {
		return stat{}, unix.ESRCH
	}
	return statOf(list[0]), nil
}

func read(name string, args ...int) ([]kinfo.Process, error) {
	return kinfo.Read(func() ([]byte, error) { return unix.SysctlRaw(name, args...) }, unix.ENOMEM)
}

func statOf(p kinfo.Process) stat {
	s := stat{pid: p.PID, parent: p.Parent, group: p.Group, threads: 1, state: 'S', start: p.Start}
	if p.Ended {
		s.state = 'Z'
	}
	session, err := unix.Getsid(s.pid)
	if err != nil {
		session = -1 // the process has ended and has no session
	}
	s.session = session
	return s
}

// hasCookie is always false; see rememberEvery.
func (table) hasCookie(int, string) (has, known bool) { return false, true }

// kill kills the process if its PID has not been reused. A race of a few microseconds remains between the check
// and the kill.
func (t table) kill(s stat) error {
	if now, err := t.stat(s.pid); err != nil || now.start != s.start {
		return unix.ESRCH
	}
	return unix.Kill(s.pid, unix.SIGKILL)
}
