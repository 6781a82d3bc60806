//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// What the errors of a start mean, see Kind.
var (
	missingErrnos = []syscall.Errno{syscall.ELOOP, syscall.ENOTDIR}
	formatErrnos  = []syscall.Errno{syscall.ENOEXEC}
	sizeErrnos    = []syscall.Errno{syscall.E2BIG, syscall.ENAMETOOLONG}
	busyErrnos    = []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY}
)

// checkEnter reports whether we may make dir the working directory.
func checkEnter(dir string) error { return unix.Access(dir, unix.X_OK) }

func checkSystem(Command) error { return nil }
