package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// badLine is one line of the side file: a line of the input that cannot be run.
type badLine struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
	Input string `json:"input"` // of a line that is too long its beginning
}

var badForm = form{"--bad", `{"line":`}

// parseBadLine refuses a line that add does not write.
func parseBadLine(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var b badLine
	if err := d.Decode(&b); err != nil {
		return err
	}
	if b.Line <= 0 || b.Error == "" {
		return errors.New(`it has no "line" and "error"`)
	}
	return nil
}

// badLines is where they go. The file begins anew with each run, because each run reads all of the input.
type badLines struct {
	name   string // empty: to report
	own    bool   // the name was not given: without a bad line there is no file
	report func(number int, err error) error
	file   *os.File // nil: there is none yet
	lock   *flock.Flock
	old    bool // the file has the lines of an earlier run
}

// open takes over the file of an earlier run, or makes one where its name was given. It changes nothing in the file.
func (b *badLines) open() (err error) {
	if info, err := os.Lstat(b.name); err == nil && !b.own && isStream(info) {
		if b.file, err = os.OpenFile(b.name, os.O_WRONLY, 0); err != nil {
			return explain(b.name, err)
		}
		return nil
	}
	b.file, b.old, err = badForm.adopt(b.name, parseBadLine)
	if errors.Is(err, fs.ErrNotExist) {
		if b.own {
			return nil
		}
		return b.create()
	}
	if err != nil {
		return err
	}
	return b.take()
}

// isStream reports whether what is there is written to as it is, such as /dev/null.
func isStream(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}

func (b *badLines) create() (err error) {
	if b.file, err = badForm.create(b.name, 0o666); err != nil {
		return err
	}
	return b.take()
}

// take keeps other batches from the file.
func (b *badLines) take() (err error) {
	if b.lock, err = lockFile(badForm.flag, b.name); err != nil {
		_ = b.file.Close()
		b.file = nil
	}
	return err
}

// add notes a line, and what is wrong with it.
func (b *badLines) add(line rawLine, mistake error) error {
	if b.name == "" {
		if b.report == nil {
			return nil
		}
		return b.report(line.number, mistake)
	}
	if b.file == nil {
		if err := b.create(); err != nil {
			return err
		}
	}
	b.own = false // it has a line, and stays
	err := b.forget()
	if err != nil {
		return explain(b.name, err)
	}
	text, err := json.Marshal(badLine{line.number, mistake.Error(), string(line.text)})
	if err == nil {
		_, err = b.file.Write(append(text, '\n'))
	}
	if err != nil {
		return explain(b.name, err)
	}
	return nil
}

// forget removes the lines of an earlier run.
func (b *badLines) forget() error {
	if !b.old {
		return nil
	}
	b.old = false
	return empty(b.file)
}

// close ends the file. What a run before has left is removed where all of the input was read without a mistake.
func (b *badLines) close(whole bool) error {
	if b.file == nil {
		return nil
	}
	var err error
	switch {
	case !whole || !b.old:
	case b.own && b.named():
		err = os.Remove(b.name)
	case !b.own:
		err = b.forget()
	}
	if b.lock != nil {
		_ = b.lock.Unlock() // closing does it as well
	}
	if err = errors.Join(err, b.file.Close()); err != nil {
		return explain(b.name, err)
	}
	return nil
}

// named reports whether the file is still the one with that name.
func (b *badLines) named() bool {
	there, err := os.Lstat(b.name)
	if err != nil {
		return false
	}
	opened, err := b.file.Stat()
	return err == nil && os.SameFile(there, opened)
}
