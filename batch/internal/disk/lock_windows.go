package disk

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks an open file until closeLocked closes it. It returns false if another process, or another open file of
// this process, has the lock. Windows denies others access to the bytes that are locked, so lock takes a byte that no
// file contains.
func lock(file *os.File) (bool, error) {
	last := &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, last)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// closeLocked closes a file, which unlocks it, because no process inherits the file.
func closeLocked(file *os.File) error { return file.Close() }
