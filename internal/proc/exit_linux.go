package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fionread is the request for the number of bytes that can be read.
const fionread = unix.TIOCINQ

// watchExit returns a channel that is closed when the child has ended, or when other code has reaped it. The
// child is not reaped, so that neither its PID nor its process group ID can be reused. No thread waits, because
// there may be many children.
func watchExit(pid int) (chan struct{}, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	old := errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) // kernels before 5.3, and before 5.10
	if err != nil && !old {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if old || pollExit(os.NewFile(uintptr(fd), "pidfd"), pid) != nil {
			waitUnreaped(pid)
		}
	}()
	return done, nil
}

// pollExit waits in the poller of the Go runtime: a pidfd becomes readable when its process ends. It closes the
// file.
func pollExit(file *os.File, pid int) error {
	defer file.Close()
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(uintptr) bool {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return err != nil || info.Signo != 0
	})
}

func waitUnreaped(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func unreaped(child stat) bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_PID, child.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) != unix.ECHILD
}

// fileLimitOf returns the limit of open files of a process, nil if it is unknown.
func fileLimitOf(pid int) *unix.Rlimit {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit) != nil {
		return nil
	}
	return &limit
}
