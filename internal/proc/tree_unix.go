//go:build unix

package proc

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type unixTree struct {
	process *os.Process
	kernel  kernel
	members *members
	done    chan struct{} // see exited
}

// processTable is the process table of a system. See procfs and table.
type processTable interface {
	// scan calls see with all processes, or without those that certainly started before since. It may call see on another
	// goroutine. see must not keep the slice.
	scan(since uint64, see func(all []stat)) error
	// hasCookie is a cookieReader. Call it only within scan.
	hasCookie(pid int, cookie string) (has, known bool)
	// kill kills the process, or returns ESRCH if its PID has been reused.
	kill(stat) error
}

// kernel is the part of the system that finds and kills processes.
type kernel struct {
	processTable
	unreaped func(child stat) bool // whether the PID of the child is still reserved, whether or not it has ended
	signal   func(pid int, s syscall.Signal) error
}

// startDirectly starts the program as a child of this process, with the watchdog.
func startDirectly(c Command, files []*os.File) (tree, error) {
	cookie := newCookie()
	return startGuarded(c, cookie, directly(c, cookie, files))
}

// startGuarded starts a program that the watchdog guards.
func startGuarded(c Command, cookie string, attr *os.ProcAttr) (*unixTree, error) {
	guard.hold()
	t, err := startTree(c, cookie, attr)
	if err != nil {
		guard.release()
		return nil, err
	}
	guard.enter(t.members.leader)
	return t, nil
}

func startTree(c Command, cookie string, attr *os.ProcAttr) (*unixTree, error) {
	process, err := startProcess(c.Path, c.Args, attr, c.Rules)
	if err != nil {
		return nil, err
	}
	return newUnixTree(process, cookie)
}

// newUnixTree creates the tree of a process that was just started as a session leader. On failure, it kills the
// process.
func newUnixTree(process *os.Process, cookie string) (*unixTree, error) {
	exit, err := watchExit(process.Pid)
	if err != nil {
		_ = unix.Kill(-process.Pid, unix.SIGKILL) // it has not been reaped, so the group ID is valid
		_, _ = process.Wait()
		return nil, err
	}
	leader, _ := system.stat(process.Pid) // without a process table, only the group is known
	leader.pid = process.Pid
	host := stat{pid: os.Getpid(), group: unix.Getpgrp()}
	host.session, _ = unix.Getsid(0) // cannot fail for this process
	return &unixTree{
		process: process, kernel: kernel{system, unreaped, unix.Kill}, done: exit,
		members: newMembers(leader, host, cookie, guard.leads),
	}, nil
}

func (t *unixTree) pid() int                { return t.process.Pid }
func (t *unixTree) exited() <-chan struct{} { return t.done }
func (t *unixTree) remember()               { _, _ = t.scan() } // sweep will get the same error

// ask sends the signal to the group, followed by SIGCONT, because a stopped process would not handle the signal.
func (t *unixTree) ask(s softSignal) {
	t.signalGroup(softSignals[s])
	t.signalGroup(unix.SIGCONT)
}

func (t *unixTree) reap() status {
	guard.leave(t.members.leader)
	defer guard.release()
	return reapProcess(t.process)
}

// signalGroup sends a signal to the process group, unless the leader has been reaped, because its PID can be reused
// after that.
func (t *unixTree) signalGroup(s syscall.Signal) {
	if t.kernel.unreaped(t.members.leader) {
		_ = t.kernel.signal(-t.pid(), s) // fails if all of its processes have ended
	}
}

func (t *unixTree) scan() (found []stat, err error) {
	err = t.kernel.scan(t.members.since, func(all []stat) { found = t.members.pick(all, t.kernel.hasCookie) })
	return found, err
}

// stuckScans is how many consecutive scans that find only processes that may not be killed end a sweep.
const stuckScans = 3

// sweep kills and scans until scans find no live process.
func (t *unixTree) sweep(limit time.Duration) swept {
	deadline := time.Now().Add(limit)
	leftovers := map[stat]bool{}
	var scans scanCount
	for stuck := 0; ; {
		found, err := t.scan()
		if err != nil {
			return t.sweepBlindly(deadline)
		}
		alive := t.alive(found, leftovers)
		clean := scans.saw(len(alive), t.members.unsure)
		if len(alive) == 0 || t.kill(alive) {
			stuck = 0
		} else {
			stuck++
		}
		if clean || stuck == stuckScans || time.Now().After(deadline) {
			t.members.reapOrphans(found)
			noteOrphans(found)
			return swept{clean: clean, leftovers: len(leftovers)}
		}
		scans.backOff()
	}
}

// alive returns the members that have not ended, and adds those besides the leader to leftovers.
func (t *unixTree) alive(found []stat, leftovers map[stat]bool) []stat {
	var alive []stat
	for _, s := range found {
		if !s.alive() {
			continue
		}
		alive = append(alive, s)
		if s.pid != t.pid() {
			leftovers[stat{pid: s.pid, start: s.start}] = true
		}
	}
	return alive
}

// kill kills the members, and reports whether the system permits it for at least one of them.
func (t *unixTree) kill(alive []stat) (allowed bool) {
	t.signalGroup(unix.SIGKILL)
	for _, s := range alive {
		if t.kernel.kill(s) != unix.EPERM {
			allowed = true
		}
	}
	return allowed
}

// sweepBlindly kills only the group, because there is no process table. The tree does not count as clean.
func (t *unixTree) sweepBlindly(deadline time.Time) swept {
	t.signalGroup(unix.SIGKILL)
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	return swept{}
}
