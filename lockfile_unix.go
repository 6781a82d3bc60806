//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package clichain

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed; got is false where another has it.
func tryLock(file *os.File) (got bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// writable reports whether this user may write there.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
