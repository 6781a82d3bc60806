package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

const resumes = "run the same command again; no answers are lost"

// remedies maps the errors of writing a file to the action that resolves them.
var remedies = []struct {
	errs   []error
	remedy string
}{
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "the disk or the quota is full: free some space and " + resumes},
	{[]error{syscall.EFBIG}, "the file has reached the size limit: raise the file size limit and " + resumes},
	{[]error{syscall.EROFS}, "the file system is read-only: mount it for writing or choose another directory"},
	{[]error{fs.ErrPermission}, "not writable: change the permissions or choose another directory"},
	{[]error{fs.ErrExist}, "another program created it during the run: remove it and " + resumes},
	{[]error{fs.ErrNotExist}, "the directory does not exist: create it or choose another directory"},
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
