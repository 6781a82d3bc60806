package batch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gofrs/flock"
)

// stream is the name of standard input and output.
const stream = "-"

// output is where records go: a file, which is the record of what is done, or a stream.
type output struct {
	name string

	mu   sync.Mutex
	w    io.Writer
	file *os.File // nil: a stream
	lock *flock.Flock
	size int64 // of the file, as far as it has whole lines
	lost error // why the file is no longer the record of what is done
}

// openOutput opens a file for itself alone, and makes it where it is missing. What is no regular file is a stream.
func openOutput(name string, stdout io.Writer) (*output, error) {
	if name == stream {
		return &output{name: "stdout", w: stdout}, nil
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, explain(name, err)
		}
		return &output{name: name, w: f}, nil
	}
	o := &output{name: name}
	if err := o.open(); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		o.name = real // what replaces the file must not replace a link to it
	}
	return o, nil
}

func (o *output) open() error {
	f, err := os.OpenFile(o.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return explain(o.name, err)
	}
	o.file, o.w = f, f
	if o.lock, err = lockFile(records.flag, o.name); err != nil {
		_ = f.Close()
		return err
	}
	return nil
}

// lockFile keeps a second batch from the same file. Where a lock would keep this process from the file, too, there is
// none.
func lockFile(flag, name string) (*flock.Flock, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	lock := flock.New(name)
	ok, err := lock.TryLock()
	if err != nil {
		return nil, nil // a file system without locks
	}
	if !ok {
		return nil, &Mistake{fmt.Errorf("%s %s: another batch writes it: wait, or choose another file", flag, name)}
	}
	return lock, nil
}

// isFile reports whether the output is the record of what is done.
func (o *output) isFile() bool { return o.file != nil }

// scan gives each record of a file to see, and cuts off a half last line: what was being written when the process or
// the machine ended.
func (o *output) scan(see func(*Record)) error {
	if !o.isFile() {
		return nil
	}
	end, rest, err := scanRecords(o.name, o.file, func(r *Record, _ []byte) { see(r) })
	if err != nil {
		return err
	}
	o.size = end
	if len(rest) == 0 {
		return nil
	}
	if err := o.file.Truncate(end); err != nil {
		return explain(o.name, err)
	}
	if r, err := parseRecord(rest); err == nil { // whole but for its end, as an editor may leave it
		see(r)
		return o.append(r)
	}
	return nil
}

// records is what the lines of an output are.
var records = form{"-o", `{"id":"`}

// scanRecords reads whole lines. It returns where they end, and what comes after them.
func scanRecords(name string, f io.Reader, see func(r *Record, line []byte)) (end int64, rest []byte, err error) {
	return records.scan(name, f, func(line []byte) error {
		r, err := parseRecord(line)
		if err == nil {
			see(r, line)
		}
		return err
	})
}

// append writes a record with one write. What a write that failed has left is cut off again.
func (o *output) append(r *Record) error {
	line, err := r.line()
	if err != nil {
		return fmt.Errorf("%s: the result of %q cannot be written as JSON: %w", o.name, r.ID, err)
	}
	return o.write(line)
}

func (o *output) write(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.w.Write(line); err != nil {
		if o.isFile() {
			_ = o.file.Truncate(o.size) // else the next run does it
		}
		return explain(o.name, err)
	}
	o.size += int64(len(line))
	return nil
}

// sync puts all that was written on the disk, under the name of the output.
func (o *output) sync() error {
	if !o.isFile() {
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
		return explain(o.name, err)
	}
	return nil
}

func (o *output) close() error {
	if o.lock != nil {
		_ = o.lock.Unlock() // closing does it as well
	}
	if f, ok := o.w.(*os.File); ok && (o.isFile() || o.name != "stdout") {
		return f.Close()
	}
	return nil
}

// rewrite leaves out the records that keep refuses. The new file takes the place of the old one when it is on the disk.
func (o *output) rewrite(keep func(*Record) bool) error { return o.replace(o.copied(keep), os.Rename) }

// copied fills another output with the records that keep accepts.
func (o *output) copied(keep func(*Record) bool) func(next *output) error {
	return func(next *output) error { return next.copyFrom(o, keep) }
}

// replace has fill write a new file, and put give it the name of the output.
func (o *output) replace(fill func(next *output) error, put func(from, to string) error) (err error) {
	next := &output{name: o.name + ".retry"}
	if next.file, err = beside(next.name, modeOf(o.file)); err != nil {
		return err
	}
	next.w = next.file
	defer func() { _ = os.Remove(next.name) }() // gone already when all went well
	if err := fill(next); err != nil {
		_ = next.file.Close()
		return err
	}
	if err := put(next.name, o.name); err != nil {
		return explain(o.name, err)
	}
	syncFolder(filepath.Dir(o.name))
	if err := o.close(); err != nil {
		return explain(o.name, err)
	}
	if err := o.open(); err != nil {
		return err
	}
	o.size = next.size
	return nil
}

// beside makes the file that takes the place of an output, or empties the one that a killed run has left.
func beside(name string, mode fs.FileMode) (*os.File, error) {
	file, _, err := records.adopt(name, func(line []byte) error { _, err := parseRecord(line); return err })
	if errors.Is(err, fs.ErrNotExist) {
		return records.create(name, mode)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Chmod(mode), empty(file)); err != nil {
		_ = file.Close()
		return nil, explain(name, err)
	}
	return file, nil
}

func (o *output) copyFrom(from *output, keep func(*Record) bool) error {
	if _, err := from.file.Seek(0, io.SeekStart); err != nil {
		return explain(from.name, err)
	}
	var failed error
	_, _, err := scanRecords(from.name, from.file, func(r *Record, line []byte) {
		if failed == nil && keep(r) {
			failed = o.write(line)
		}
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	return o.finish()
}

// finish puts a file on the disk that is written once.
func (o *output) finish() error {
	if err := cmp.Or(o.file.Sync(), o.file.Close()); err != nil {
		return explain(o.name, err)
	}
	return nil
}

func modeOf(f *os.File) fs.FileMode {
	if info, err := f.Stat(); err == nil {
		return info.Mode().Perm()
	}
	return 0o600
}

// syncFolder makes the name of a new file last. Not every system can.
func syncFolder(name string) {
	if d, err := os.Open(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
