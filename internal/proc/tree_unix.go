//go:build unix

package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

type unixTree struct {
	process *os.Process
	members *members
	done    chan struct{} // see exited
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
	return &unixTree{process: process, members: newMembers(leader, host, cookie, guard.leads), done: exit}, nil
}

func (t *unixTree) pid() int                { return t.process.Pid }
func (t *unixTree) exited() <-chan struct{} { return t.done }
func (t *unixTree) remember()               { _, _ = t.scan() } // sweep will get the same error

func (t *unixTree) ask(s softSignal) {
	if unreaped(t.members.leader) {
		askGroup(t.pid(), s)
	}
}

func (t *unixTree) reap() status {
	guard.leave(t.members.leader)
	defer guard.release()
	return reapProcess(t.process)
}

// killGroup kills the process group, unless the leader has been reaped, because its PID can be reused after
// that.
func (t *unixTree) killGroup() {
	if unreaped(t.members.leader) {
		_ = unix.Kill(-t.pid(), unix.SIGKILL) // fails if all of its processes have ended
	}
}

func (t *unixTree) scan() (found []stat, err error) {
	err = system.scan(t.members.since, func(all []stat) { found = t.members.pick(all, system.hasCookie) })
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
	t.killGroup()
	for _, s := range alive {
		if system.kill(s) != unix.EPERM {
			allowed = true
		}
	}
	return allowed
}

// sweepBlindly kills only the group, because there is no process table. The tree does not count as clean.
func (t *unixTree) sweepBlindly(deadline time.Time) swept {
	t.killGroup()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	return swept{}
}
