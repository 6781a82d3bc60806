//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The system errors for each Kind.
var (
	missingErrnos = []syscall.Errno{syscall.ELOOP, syscall.ENOTDIR}
	formatErrnos  = []syscall.Errno{syscall.ENOEXEC}
	sizeErrnos    = []syscall.Errno{syscall.E2BIG, syscall.ENAMETOOLONG}
	busyErrnos    = []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY}
)

// checkEnter returns an error if this process may not make dir its working directory.
func checkEnter(dir string) error { return unix.Access(dir, unix.X_OK) }
