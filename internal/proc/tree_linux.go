package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// linuxTree is a tree that is found through /proc.
type linuxTree struct {
	process *os.Process
	members *members
	done    chan struct{} // see exited
}

func start(c Command, files []*os.File) (tree, error) {
	guard.ensure()
	cookie := newCookie()
	process, err := startProcess(c, cookie, files)
	if err != nil {
		return nil, err
	}
	exit, err := watchExit(process.Pid)
	if err != nil {
		_ = unix.Kill(-process.Pid, unix.SIGKILL) // it has not been reaped, so the group is its own
		_, _ = process.Wait()
		return nil, err
	}
	leader, _ := system.stat(process.Pid) // without /proc the group is all we know
	host, _ := system.stat(os.Getpid())
	leader.pid, host.pid = process.Pid, os.Getpid()
	guard.enter(leader)
	return &linuxTree{process: process, members: newMembers(leader, host, cookie), done: exit}, nil
}

func (t *linuxTree) pid() int                { return t.process.Pid }
func (t *linuxTree) exited() <-chan struct{} { return t.done }
func (t *linuxTree) remember()               { _, _ = t.scan() } // sweep will meet the same error

func (t *linuxTree) ask(s softSignal) {
	if unreaped(t.pid()) {
		askGroup(t.pid(), s)
	}
}

func (t *linuxTree) reap() status {
	guard.leave(t.members.leader)
	return reapProcess(t.process)
}

// killGroup kills the process group, whose id is only ours as long as nobody has reaped the leader.
func (t *linuxTree) killGroup() {
	if unreaped(t.pid()) {
		_ = unix.Kill(-t.pid(), unix.SIGKILL) // nobody left to kill is fine
	}
}

// scan returns the present members.
func (t *linuxTree) scan() (found []stat, err error) {
	err = system.scan(func(all []stat) { found = t.members.pick(all, system.hasCookie) })
	return found, err
}
