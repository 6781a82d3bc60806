package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// startsAreMonotonic is false, because start times are from the wall clock, which may be set back.
const startsAreMonotonic = false

// rememberEvery returns an interval because there is no cookie: on this system, the environment of other
// processes is not reliable. A member must be seen before it becomes an orphan.
func rememberEvery() time.Duration { return time.Second }

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

type table struct{}

var system table

func (table) scan(_ uint64, see func(all []stat)) error {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return err
	}
	all := make([]stat, 0, len(list))
	for i := range list {
		all = append(all, statOf(&list[i]))
	}
	see(all)
	return nil
}

func (table) stat(pid int) (stat, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

func statOf(k *unix.KinfoProc) stat {
	s := stat{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid), threads: 1, state: 'S',
		start: uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
	}
	if k.Proc.P_stat == zombie {
		s.state = 'Z'
	}
	if session, err := unix.Getsid(s.pid); err == nil {
		s.session = session
	} else {
		s.session = -1 // the process has ended and has no session
	}
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
