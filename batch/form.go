package batch

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

// form is how the lines of a file begin that a batch writes, and the flag that names the file. A file with any other
// line is refused: a batch must not truncate, rewrite or remove what it has not written.
type form struct{ flag, opening string }

// scan reads whole lines. It returns where they end, and what comes after them.
func (f form) scan(name string, file io.Reader, see func(line []byte) error) (end int64, rest []byte, err error) {
	b := bufio.NewReaderSize(file, 256<<10)
	for number := 1; ; number++ {
		line, err := b.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return end, nil, explain(name, err)
		}
		if err != nil {
			return end, line, f.checkRest(name, number, line)
		}
		if err := see(line); err != nil {
			return end, nil, f.foreign(name, number, err)
		}
		end += int64(len(line))
	}
}

// checkRest refuses a last line that no batch has begun. After a crash of the machine it may have zeros.
func (f form) checkRest(name string, number int, line []byte) error {
	half := string(bytes.TrimRight(line, "\x00"))
	if strings.HasPrefix(half, f.opening) || strings.HasPrefix(f.opening, half) {
		return nil
	}
	return f.foreign(name, number, fmt.Errorf("it does not begin with %s", f.opening))
}

func (f form) foreign(name string, number int, err error) error {
	return f.refuse("%s: line %d was not written by a batch (%v)", name, number, err)
}

// refuse is an error with the flag and the advice that go with the file.
func (f form) refuse(format string, args ...any) error {
	return &Mistake{fmt.Errorf(f.flag+" "+format+": choose another file, or remove this one", args...)}
}

// adopt opens a file that an earlier run has left, and locks nothing. lines says whether it has any. It follows no
// link, and refuses what another user owns and what no batch has written. The error wraps [fs.ErrNotExist] where there
// is no file.
func (f form) adopt(name string, parse func(line []byte) error) (file *os.File, lines bool, err error) {
	found, err := os.Lstat(name)
	if err != nil {
		return nil, false, explain(name, err)
	}
	switch {
	case found.Mode().Type() == fs.ModeSymlink:
		return nil, false, f.refuse("%s: is a symbolic link", name)
	case !found.Mode().IsRegular():
		return nil, false, f.refuse("%s: is not a regular file", name)
	}
	if err := checkOwner(name, found); err != nil {
		return nil, false, f.refuse("%v", err)
	}
	if file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return nil, false, explain(name, err)
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(found, opened) {
		err = f.refuse("%s: another file took its place", name)
	}
	var end int64
	var rest []byte
	if err == nil {
		end, rest, err = f.scan(name, file, parse)
	}
	if err != nil {
		_ = file.Close()
		return nil, false, err
	}
	return file, end > 0 || len(rest) > 0, nil
}

// create makes a file that must not be there yet. It follows no link.
func (f form) create(name string, mode fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, explain(name, err)
	}
	return file, nil
}

// empty makes a file begin anew.
func empty(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return cmp.Or(file.Truncate(0), err)
}
