package disk

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Rewrite removes the records for which keep returns false.
func (o *Output[R]) Rewrite(keep func(R) bool) error { return o.replace(o.copied(keep), os.Rename) }

// Sort sorts the records by the positions that place returns. Records for which place returns false come last. Sort
// writes nothing if the records are already sorted.
func (o *Output[R]) Sort(place func(R) (int, bool)) error {
	type piece struct {
		place int
		from  int64
		size  int
	}
	var pieces []piece
	var end int64
	if err := o.rewind(); err != nil {
		return err
	}
	_, _, err := o.scan(func(record R, line []byte) error {
		n, known := place(record)
		if !known {
			n = math.MaxInt
		}
		pieces = append(pieces, piece{n, end, len(line)})
		end += int64(len(line))
		return nil
	})
	byPlace := func(a, b piece) int { return cmp.Compare(a.place, b.place) }
	if err != nil || slices.IsSortedFunc(pieces, byPlace) {
		return err
	}
	slices.SortStableFunc(pieces, byPlace)
	return o.replace(func(next *Output[R]) error {
		for _, p := range pieces {
			line := make([]byte, p.size)
			if _, err := o.file.ReadAt(line, p.from); err != nil {
				return Explain(o.name, err)
			}
			if err := next.Append(line); err != nil {
				return err
			}
		}
		return next.finish()
	}, os.Rename)
}

func (o *Output[R]) rewind() error {
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return Explain(o.name, err)
	}
	return nil
}

// copied returns a func that copies the records for which keep returns true to another output.
func (o *Output[R]) copied(keep func(R) bool) func(next *Output[R]) error {
	return func(next *Output[R]) error {
		if err := o.rewind(); err != nil {
			return err
		}
		_, _, err := o.scan(func(record R, line []byte) error {
			if !keep(record) {
				return nil
			}
			return next.Append(line)
		})
		if err != nil {
			return err
		}
		return next.finish()
	}
}

// replace calls fill to write a new file and put to give this file the name of the output.
func (o *Output[R]) replace(fill func(next *Output[R]) error, put func(from, to string) error) (err error) {
	next := &Output[R]{name: o.name + ".retry"}
	if next.file, err = o.kind.beside(next.name, modeOf(o.file)); err != nil {
		return err
	}
	next.w = next.file
	defer func() { _ = os.Remove(next.name) }() // after a success, the file has another name
	if err := fill(next); err != nil {
		_ = next.file.Close()
		return err
	}
	if err := swap(func() error { return put(next.name, o.name) }, o.Close); err != nil {
		return Explain(o.name, err)
	}
	syncDir(filepath.Dir(o.name))
	if err := o.open(); err != nil {
		return err
	}
	o.size = next.size
	return nil
}

// beside creates the file that will replace an output. If a killed run has left such a file, beside truncates it.
func (k kind) beside(name string, mode fs.FileMode) (*os.File, error) {
	file, _, err := k.adopt(name)
	if errors.Is(err, fs.ErrNotExist) {
		return create(name, mode)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Chmod(mode), empty(file)); err != nil {
		_ = file.Close()
		return nil, Explain(name, err)
	}
	return file, nil
}

// finish syncs and closes a file to which no more records are written.
func (o *Output[R]) finish() error {
	if err := cmp.Or(o.file.Sync(), o.file.Close()); err != nil {
		return Explain(o.name, err)
	}
	return nil
}

func modeOf(f *os.File) fs.FileMode {
	if info, err := f.Stat(); err == nil {
		return info.Mode().Perm()
	}
	return 0o600
}
