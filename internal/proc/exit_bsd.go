//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// fionread is the request for the number of bytes that can be read: _IOR('f', 127, int).
const fionread = 0x4004667f

func start(c Command, files []*os.File) (tree, error) { return startDirectly(c, files) }

// watchExit returns a channel that is closed when the child has ended. The child is not reaped, so that neither
// its PID nor its process group ID can be reused. watchExit blocks a thread.
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
	if err != nil && err != unix.ESRCH { // the child has already ended
		_ = unix.Close(queue)
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(queue)
		if err == nil {
			_, _ = retried(queue, nil, event) // the only event
		}
	}()
	return done, nil
}

// retried calls kevent again after an interruption.
func retried(queue int, changes, events []unix.Kevent_t) (int, error) {
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func unreaped(child stat) bool {
	now, err := system.stat(child.pid)
	return err != nil || now.start == child.start
}

func fileLimitOf(int) *unix.Rlimit { return nil } // only confined programs need it
