//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// fionread asks for the number of bytes that can be read: _IOR('f', 127, int).
const fionread = 0x4004667f

func start(c Command, files []*os.File) (tree, error) { return startDirectly(c, files) }

// watchExit returns a channel that is closed when the child has ended. The child stays unreaped, so that neither its id
// nor that of its group can be reused. It holds a thread.
func watchExit(pid int) (chan struct{}, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	event := make([]unix.Kevent_t, 1)
	unix.SetKevent(&event[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	event[0].Fflags = unix.NOTE_EXIT
	_, err = retried(queue, event, nil)
	if err != nil && err != unix.ESRCH { // ESRCH: it has ended already
		_ = unix.Close(queue)
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(queue)
		if err == nil {
			_, _ = retried(queue, nil, event) // the one event there is
		}
	}()
	return done, nil
}

// retried is kevent without interruptions.
func retried(queue int, changes, events []unix.Kevent_t) (int, error) {
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// unreaped reports whether the child's id is still reserved, whether or not it has ended.
func unreaped(child stat) bool {
	now, err := system.stat(child.pid)
	return err != nil || now.start == child.start
}
