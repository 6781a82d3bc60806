//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// swap replaces a file that is open. It closes the old file last, because that ends its lock.
func swap(rename, closeOld func() error) error {
	if err := rename(); err != nil {
		return err
	}
	return closeOld()
}

// checkOwner returns an error if a user other than the user of this process owns the file at path. info describes
// this file.
func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if self := os.Geteuid(); ok && int(stat.Uid) != self {
		return fmt.Errorf("%s belongs to another user (uid %d; this process runs as uid %d)", path, stat.Uid, self)
	}
	return nil
}

// truncate cuts an open file to a size.
func truncate(file *os.File, size int64) error { return file.Truncate(size) }
