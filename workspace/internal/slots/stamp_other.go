//go:build !unix

package slots

import (
	"io/fs"
	"os"
	"time"
)

// stampsProve reports whether equal stamps prove that a file did not change. Here a program can set all times, so every
// use copies all files again.
const stampsProve = false

// lstat returns the stamp of the file at path. It does not follow a symbolic link.
func lstat(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	s := stamp{
		size: uint64(info.Size()), mtime: uint64(info.ModTime().UnixNano()), mode: uint32(info.Mode().Perm()), links: 1,
	}
	switch {
	case info.Mode().IsRegular():
		s.mode |= kindFile
	case info.IsDir():
		s.mode |= kindDir
	case info.Mode()&fs.ModeSymlink != 0:
		s.mode |= kindLink
	}
	return s, nil
}

// setTime sets the time of the last change of the content of a file.
func setTime(path string, mtime uint64) error {
	at := time.Unix(0, int64(mtime))
	return os.Chtimes(path, at, at)
}

// openSource opens a file of the original.
func openSource(path string) (*os.File, error) { return os.Open(path) }
