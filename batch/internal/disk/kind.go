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

// UnusableError reports that a batch must not use a file, because the file belongs to another batch or user, or
// because no batch has written it.
type UnusableError struct{ Err error }

// Error returns the text of Err.
func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnusableError) Unwrap() error { return e.Err }

// kind describes a kind of file that a batch writes. A file with any other line is rejected, because a batch must not
// truncate, rewrite or remove a file that it has not written.
type kind struct {
	flag    string                  // the flag that names the file
	opening string                  // the first bytes of each line
	check   func(line []byte) error // returns an error for a line that no batch has written
}

// scan passes the complete lines to see. It returns the offset after the last complete line, and the bytes after it.
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

// checkRest rejects an incomplete last line that no batch has begun to write. After a machine crash, the line may end
// with zero bytes.
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

// refuse returns an [UnusableError] with the flag that names the file and with advice.
func (k kind) refuse(format string, args ...any) error {
	return &UnusableError{fmt.Errorf(k.flag+" "+format+": choose another file, or remove this one", args...)}
}

// adopt opens the file of an earlier run without locking it. nonempty reports whether the file contains any bytes.
// adopt does not follow links. It rejects files that another user owns and files that no batch has written. The error
// wraps [fs.ErrNotExist] if the file does not exist.
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
		err = k.refuse("%s: another file has replaced it", name)
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

// create creates a file that must not exist yet. It does not follow links.
func create(name string, mode fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, Explain(name, err)
	}
	return file, nil
}

// empty truncates a file and sets its offset to 0.
func empty(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return cmp.Or(file.Truncate(0), err)
}
