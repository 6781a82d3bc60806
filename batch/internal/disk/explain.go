package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

const resumes = "the same command goes on; nothing is lost"

// remedies say what to do about the ways in which a file cannot be written.
var remedies = []struct {
	errs   []error
	remedy string
}{
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "the disk, or the quota, is full: make room, and " + resumes},
	{[]error{syscall.EFBIG}, "the file may not grow any more: raise the limit for files, and " + resumes},
	{[]error{syscall.EROFS}, "the file system is read-only: mount it for writing, or choose another place"},
	{[]error{fs.ErrPermission}, "it may not be written to: change its permissions, or choose another place"},
	{[]error{fs.ErrExist}, "another program made it during the run: remove it, and " + resumes},
	{[]error{fs.ErrNotExist}, "there is no such folder: make it, or choose another place"},
}

// Explain adds the name of a file and what to do to an error of the file.
func Explain(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // which says the name again
	}
	for _, r := range remedies {
		for _, target := range r.errs {
			if errors.Is(err, target) {
				return fmt.Errorf("%s: %s (%w)", name, r.remedy, err)
			}
		}
	}
	return fmt.Errorf("%s: %w", name, err)
}
