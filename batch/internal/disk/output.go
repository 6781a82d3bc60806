package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Stream is the name of standard input and standard output.
const Stream = "-"

// Output is the destination of the records of a batch, one record per line. It is a stream or a regular file that the
// next run reads again. R is the type of a record. [Output.Append] and [Output.Sync] are safe for concurrent use.
type Output[R any] struct {
	name  string
	kind  kind
	parse func(line []byte) (R, error)

	mu   sync.Mutex
	w    io.Writer
	file *os.File // nil: a stream
	size int64    // length of the file up to its last complete line
	lost error    // why the file no longer contains all records
}

// OpenOutput opens and locks a file, and creates a missing file. If the name refers to a file that is not regular,
// the output is a stream. The name "-" means stdout. parse reads a line that begins with {"id":" and returns an error
// if no batch has written the line.
func OpenOutput[R any](name string, stdout io.Writer, parse func(line []byte) (R, error)) (*Output[R], error) {
	o := newOutput(name, parse)
	if name == Stream {
		o.name, o.w = "stdout", stdout
		return o, nil
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		if o.w, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
			return nil, Explain(name, err)
		}
		return o, nil
	}
	if err := o.open(); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		o.name = real // replacing the file must not replace a link to it
	}
	return o, nil
}

func newOutput[R any](name string, parse func(line []byte) (R, error)) *Output[R] {
	return &Output[R]{name: name, parse: parse, kind: kind{"-o", `{"id":"`, func(line []byte) error {
		_, err := parse(line)
		return err
	}}}
}

// ReadOutput passes each record of a regular file to see. It neither locks nor changes the file. A missing file and a
// stream have no records.
func ReadOutput[R any](name string, parse func(line []byte) (R, error), see func(R)) error {
	if name == Stream {
		return nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Explain(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	o := newOutput(name, parse)
	o.file = f
	_, _, err = o.scan(func(record R, _ []byte) error {
		see(record)
		return nil
	})
	return err
}

func (o *Output[R]) open() error {
	f, err := os.OpenFile(o.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return Explain(o.name, err)
	}
	o.file, o.w = f, f
	if err := lockFile(o.kind.flag, f); err != nil {
		_ = f.Close()
		return err
	}
	return nil
}

// lockFile locks an open file against other batches until it is closed. A file system without locks is no error.
func lockFile(flag string, file *os.File) error {
	if locked, err := lock(file); err == nil && !locked {
		return &UnusableError{fmt.Errorf("%s %s: another batch writes it: wait, or choose another file", flag, file.Name())}
	}
	return nil
}

// IsFile reports whether the output is a regular file, which the next run can read.
func (o *Output[R]) IsFile() bool { return o.file != nil }

// Scan passes each record of a file to see. It truncates an incomplete last line, which remains if the process or the
// machine stopped during a write. A stream has no records.
func (o *Output[R]) Scan(see func(R)) error {
	if !o.IsFile() {
		return nil
	}
	end, rest, err := o.scan(func(record R, _ []byte) error {
		see(record)
		return nil
	})
	if err != nil {
		return err
	}
	o.size = end
	if len(rest) == 0 {
		return nil
	}
	if err := truncate(o.file, end); err != nil {
		return Explain(o.name, err)
	}
	if record, err := o.parse(rest); err == nil { // only the newline is missing, for example after editing the file
		see(record)
		return o.Append(append(rest, '\n'))
	}
	return nil
}

// scan passes the records of the file to see, starting at the current offset, and stops at the first error that see
// returns. It returns the offset after the last complete line, and the bytes after it.
func (o *Output[R]) scan(see func(record R, line []byte) error) (end int64, rest []byte, err error) {
	var failed error
	end, rest, err = o.kind.scan(o.name, o.file, func(line []byte) error {
		record, err := o.parse(line)
		if err == nil && failed == nil {
			failed = see(record, line)
		}
		return err
	})
	return end, rest, cmp.Or(err, failed)
}

// Append writes a line, which must end with a newline. If the write fails, Append removes the part that was written.
func (o *Output[R]) Append(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.w.Write(line); err != nil {
		if o.IsFile() {
			_ = truncate(o.file, o.size) // after a failure, the next run truncates the file
		}
		return Explain(o.name, err)
	}
	o.size += int64(len(line))
	return nil
}

// Sync commits all records to the disk. It ensures that the name of the output refers to the file that contains them.
func (o *Output[R]) Sync() error {
	if !o.IsFile() {
		return nil
	}
	o.mu.Lock()
	if o.lost == nil {
		o.lost = o.verify()
	}
	file, lost := o.file, o.lost
	o.mu.Unlock()
	if lost != nil {
		return lost
	}
	if err := file.Sync(); err != nil {
		return Explain(o.name, err)
	}
	return nil
}

// Close closes the file, which ends its lock. It does not close stdout.
func (o *Output[R]) Close() error {
	if f, ok := o.w.(*os.File); ok && (o.IsFile() || o.name != "stdout") {
		return closeLocked(f)
	}
	return nil
}
