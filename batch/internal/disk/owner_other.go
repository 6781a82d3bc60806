//go:build !unix

package disk

import (
	"io/fs"
	"os"
)

// swap replaces a file that is open. It closes the old file first, because this system replaces no open file.
func swap(rename, closeOld func() error) error {
	if err := closeOld(); err != nil {
		return err
	}
	return rename()
}

// checkOwner returns nil, because the permissions of the directory decide which users can write to a file.
func checkOwner(string, fs.FileInfo) error { return nil }

// truncate cuts an open file to a size. Windows denies that to a file that was opened for appending, but such a file
// keeps its name while it is open.
func truncate(file *os.File, size int64) error { return os.Truncate(file.Name(), size) }
