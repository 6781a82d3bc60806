//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// canHold reports that a write to a pipe can be ended. Then this process can keep the program's end of the pipe, too,
// whose writer would wait for ever.
const canHold = true

// unread is the number of bytes in a pipe that nobody has read, 0 where that cannot be told.
func unread(pipe *os.File) (n int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) }) // fails once it is closed
	return n
}
