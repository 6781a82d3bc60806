package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

const resumes = "the same command goes on; nothing is lost"

// remedies maps the errors of writing a file to the action that resolves them.
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

// Explain adds the name of the file and a remedy to an error of a file operation.
func Explain(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // the outer error already contains the name
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
