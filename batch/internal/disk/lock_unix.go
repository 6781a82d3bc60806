//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open file until it is closed. It returns false if another process, or another open file of this
// process, has the lock.
func lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
