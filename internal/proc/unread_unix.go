//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// canHold means that a write to a pipe can be interrupted. Only then can this process keep a copy of the
// program's end of the pipe, because otherwise the writer could block forever.
const canHold = true

// unread returns the number of unread bytes in a pipe, or 0 if it is unknown.
func unread(pipe *os.File) (n int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) }) // fails after the pipe is closed
	return n
}
