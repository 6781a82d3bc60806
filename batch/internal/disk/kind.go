package disk

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// UnusableError says that a batch must not use a file: another batch or user owns it, or no batch has written it.
type UnusableError struct{ Err error }

// Error is the text of Err.
func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnusableError) Unwrap() error { return e.Err }

// kind is a kind of file that a batch writes. A file with any other line is refused: a batch must not truncate, rewrite
// or remove what it has not written.
type kind struct {
	flag    string                  // that names the file
	opening string                  // how each line begins
	check   func(line []byte) error // an error for a line that no batch has written
}

// scan passes the complete lines to see. It returns where they end, and the bytes after them.
func (k kind) scan(name string, file io.Reader, see func(line []byte) error) (end int64, rest []byte, err error) {
	b := bufio.NewReaderSize(file, 256<<10)
	for number := 1; ; number++ {
		line, err := b.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return end, nil, Explain(name, err)
		}
		if err != nil {
			return end, line, k.checkRest(name, number, line)
		}
		if err := see(line); err != nil {
			return end, nil, k.foreign(name, number, err)
		}
		end += int64(len(line))
	}
}

// checkRest refuses an incomplete last line that no batch has begun. After a crash of the machine it may have zeros.
func (k kind) checkRest(name string, number int, line []byte) error {
	half := string(bytes.TrimRight(line, "\x00"))
	if strings.HasPrefix(half, k.opening) || strings.HasPrefix(k.opening, half) {
		return nil
	}
	return k.foreign(name, number, fmt.Errorf("it does not begin with %s", k.opening))
}

func (k kind) foreign(name string, number int, err error) error {
	return k.refuse("%s: line %d was not written by a batch (%v)", name, number, err)
}

// refuse returns an [UnusableError] with the flag and the advice that go with the file.
func (k kind) refuse(format string, args ...any) error {
	return &UnusableError{fmt.Errorf(k.flag+" "+format+": choose another file, or remove this one", args...)}
}

// adopt opens a file of an earlier run, and locks nothing. nonempty reports whether it has any bytes. It follows no
// link, and refuses what another user owns and what no batch has written. The error wraps [fs.ErrNotExist] where there
// is no file.
func (k kind) adopt(name string) (file *os.File, nonempty bool, err error) {
	found, err := os.Lstat(name)
	if err != nil {
		return nil, false, Explain(name, err)
	}
	switch {
	case found.Mode().Type() == fs.ModeSymlink:
		return nil, false, k.refuse("%s: is a symbolic link", name)
	case !found.Mode().IsRegular():
		return nil, false, k.refuse("%s: is not a regular file", name)
	}
	if err := checkOwner(name, found); err != nil {
		return nil, false, k.refuse("%v", err)
	}
	if file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return nil, false, Explain(name, err)
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(found, opened) {
		err = k.refuse("%s: another file took its place", name)
	}
	var end int64
	var rest []byte
	if err == nil {
		end, rest, err = k.scan(name, file, k.check)
	}
	if err != nil {
		_ = file.Close()
		return nil, false, err
	}
	return file, end > 0 || len(rest) > 0, nil
}

// create makes a file that must not exist yet. It follows no link.
func create(name string, mode fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, Explain(name, err)
	}
	return file, nil
}

// empty truncates a file, and moves its offset to the start.
func empty(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return cmp.Or(file.Truncate(0), err)
}
