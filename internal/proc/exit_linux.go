package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// watchExit returns a channel that is closed when the child has ended, or somebody else has reaped it. The child stays
// unreaped, so that its id and that of its group stay its own. No thread waits for it: there may be many children.
func watchExit(pid int) (chan struct{}, error) {
	done := make(chan struct{})
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // kernels before 5.3, and before 5.10
		go func() {
			defer close(done)
			waitUnreaped(pid)
		}()
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(done)
		file := os.NewFile(uintptr(fd), "pidfd")
		defer file.Close()
		if pollExit(file, pid) != nil {
			waitUnreaped(pid)
		}
	}()
	return done, nil
}

// pollExit waits in the runtime's poller: a pidfd becomes readable when its process ends.
func pollExit(file *os.File, pid int) error {
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

// waitUnreaped holds a thread until the child has ended.
func waitUnreaped(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// unreaped reports whether the child's id is still reserved, whether or not it has ended.
func unreaped(child stat) bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_PID, child.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) != unix.ECHILD
}
