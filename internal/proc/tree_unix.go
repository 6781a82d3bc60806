//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// unixTree is a tree that is found in the system's table of processes.
type unixTree struct {
	process *os.Process
	members *members
	done    chan struct{} // see exited
}

// startDirectly starts the program as our child, under guard.
func startDirectly(c Command, files []*os.File) (tree, error) {
	cookie := newCookie()
	guard.ensure()
	process, err := startProcess(c.Path, c.Args, directly(c, cookie, files))
	if err != nil {
		return nil, err
	}
	t, err := newUnixTree(process, cookie)
	if err != nil {
		return nil, err
	}
	guard.enter(t.members.leader)
	return t, nil
}

// newUnixTree takes over a process that has just been started and leads a session. It kills it if that fails.
func newUnixTree(process *os.Process, cookie string) (*unixTree, error) {
	exit, err := watchExit(process.Pid)
	if err != nil {
		_ = unix.Kill(-process.Pid, unix.SIGKILL) // it has not been reaped, so the group is its own
		_, _ = process.Wait()
		return nil, err
	}
	leader, _ := system.stat(process.Pid) // without a table the group is all we know
	host, _ := system.stat(os.Getpid())
	leader.pid, host.pid = process.Pid, os.Getpid()
	return &unixTree{process: process, members: newMembers(leader, host, cookie), done: exit}, nil
}

func (t *unixTree) pid() int                { return t.process.Pid }
func (t *unixTree) exited() <-chan struct{} { return t.done }
func (t *unixTree) remember()               { _, _ = t.scan() } // sweep will meet the same error

func (t *unixTree) ask(s softSignal) {
	if unreaped(t.members.leader) {
		askGroup(t.pid(), s)
	}
}

func (t *unixTree) reap() status {
	guard.leave(t.members.leader)
	return reapProcess(t.process)
}

// killGroup kills the process group, whose id is only ours as long as nobody has reaped the leader.
func (t *unixTree) killGroup() {
	if unreaped(t.members.leader) {
		_ = unix.Kill(-t.pid(), unix.SIGKILL) // nobody left to kill is fine
	}
}

// scan returns the present members.
func (t *unixTree) scan() (found []stat, err error) {
	err = system.scan(func(all []stat) { found = t.members.pick(all, system.hasCookie) })
	return found, err
}
