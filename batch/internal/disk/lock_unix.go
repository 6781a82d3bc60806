//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open file until closeLocked closes it. It returns false if another process, or another open file of
// this process, has the lock.
func lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// closeLocked unlocks and closes a file. Close alone is not enough, because a process that another goroutine starts at
// this moment has the descriptor, and with it the lock, until it executes its program.
func closeLocked(file *os.File) error {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // a file system without locks is no error
	return file.Close()
}
