package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Mistake is an error that another call avoids: before it nothing was started.
type Mistake struct{ Err error }

// Error says what the mistake is.
func (e *Mistake) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Mistake) Unwrap() error { return e.Err }

const goesOn = "the same command goes on; nothing is lost"

// remedies say what to do about the ways in which a file cannot be written.
var remedies = []struct {
	errs []error
	what string
}{
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "the disk, or the quota, is full: make room, and " + goesOn},
	{[]error{syscall.EFBIG}, "the file may not grow any more: raise the limit for files, and " + goesOn},
	{[]error{syscall.EROFS}, "the file system is read-only: mount it for writing, or choose another place"},
	{[]error{fs.ErrPermission}, "it may not be written to: change its permissions, or choose another place"},
	{[]error{fs.ErrExist}, "another program made it during the run: remove it, and " + goesOn},
	{[]error{fs.ErrNotExist}, "there is no such folder: make it, or choose another place"},
}

// explain adds to the error of a file which file it is, and what to do.
func explain(name string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // which says the name again
	}
	for _, r := range remedies {
		for _, target := range r.errs {
			if errors.Is(err, target) {
				return fmt.Errorf("%s: %s (%w)", name, r.what, err)
			}
		}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// probeSize is what a folder must still take: a block or two.
const probeSize = 64 << 10

// probe finds out whether a folder can be written to: a queue does not say why it cannot. The file is beside the
// folder, which has no place for the files of others, and loses its name at once where the system allows that.
func probe(folder string) error {
	folder = filepath.Clean(folder)
	f, err := os.CreateTemp(filepath.Dir(folder), filepath.Base(folder)+".probe-*")
	if err != nil {
		return explain(folder, err)
	}
	if os.Remove(f.Name()) != nil {
		defer func() { _ = os.Remove(f.Name()) }()
	}
	_, err = f.Write(make([]byte, probeSize))
	for _, step := range []func() error{f.Sync, f.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	if err != nil {
		return explain(folder, err)
	}
	return nil
}
