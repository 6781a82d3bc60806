package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fionread asks for the number of bytes that can be read.
const fionread = unix.TIOCINQ

// watchExit returns a channel that is closed when the child has ended, or other code has reaped it. The child stays
// unreaped, so that neither its id nor that of its group can be reused. There may be many children, so no thread waits.
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

// pollExit waits in the runtime's poller: a pidfd becomes readable when its process ends. It closes the file.
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

// unreaped reports whether the child's id is still reserved, whether or not it has ended.
func unreaped(child stat) bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_PID, child.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) != unix.ECHILD
}
