package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// badLine is one line of the file for bad lines.
type badLine struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
	Input string `json:"input"` // the beginning of the line if it is too long
}

var badLineKind = kind{"--bad", `{"line":`, checkBadLine}

// checkBadLine returns an error for a line that [BadLines.Add] cannot have written.
func checkBadLine(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var b badLine
	if err := d.Decode(&b); err != nil {
		return err
	}
	if b.Line <= 0 || b.Error == "" {
		return errors.New(`it has no "line" or no "error"`)
	}
	return nil
}

// BadLines is the file for input lines that cannot run. Each run overwrites the file, because each run reads the
// whole input. It is not safe for concurrent use.
type BadLines struct {
	name     string
	optional bool     // the file exists only if there is a bad line
	file     *os.File // nil: the file does not exist yet
	old      bool     // the file contains the lines of an earlier run
}

// OpenBadLines opens the file of an earlier run without changing its content. It creates a missing file unless the
// file is optional. The first bad line creates an optional file, and [BadLines.Close] removes an optional file that
// contains no bad line.
func OpenBadLines(name string, optional bool) (*BadLines, error) {
	b := &BadLines{name: name, optional: optional}
	return b, b.open()
}

func (b *BadLines) open() (err error) {
	if info, err := os.Lstat(b.name); err == nil && !b.optional && isDevice(info) {
		if b.file, err = os.OpenFile(b.name, os.O_WRONLY, 0); err != nil {
			return Explain(b.name, err)
		}
		return nil
	}
	b.file, b.old, err = badLineKind.adopt(b.name)
	if errors.Is(err, fs.ErrNotExist) {
		if b.optional {
			return nil
		}
		return b.create()
	}
	if err != nil {
		return err
	}
	return b.acquire()
}

// isDevice reports whether a file accepts and discards bytes, such as /dev/null.
func isDevice(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}

func (b *BadLines) create() (err error) {
	if b.file, err = create(b.name, 0o666); err != nil {
		return err
	}
	return b.acquire()
}

// acquire locks the file against other batches.
func (b *BadLines) acquire() (err error) {
	if err = lockFile(badLineKind.flag, b.file); err != nil {
		_ = b.file.Close()
		b.file = nil
	}
	return err
}

// Add appends an input line with its line number, starting at 1, and the reason why the line cannot run.
func (b *BadLines) Add(number int, input []byte, reason error) error {
	if b.file == nil {
		if err := b.create(); err != nil {
			return err
		}
	}
	b.optional = false // the file has a line, so Close must not remove it
	err := b.truncate()
	if err != nil {
		return Explain(b.name, err)
	}
	text, err := json.Marshal(badLine{number, reason.Error(), string(input)})
	if err == nil {
		_, err = b.file.Write(append(text, '\n'))
	}
	if err != nil {
		return Explain(b.name, err)
	}
	return nil
}

// truncate removes the lines of an earlier run.
func (b *BadLines) truncate() error {
	if !b.old {
		return nil
	}
	b.old = false
	return empty(b.file)
}

// Close closes the file. If the whole input was read (complete) and no line was bad, Close removes the lines of an
// earlier run and an optional file.
func (b *BadLines) Close(complete bool) error {
	if b.file == nil {
		return nil
	}
	var err error
	switch {
	case !complete || !b.old:
	case b.optional && b.isNamed():
		err = os.Remove(b.name)
	case !b.optional:
		err = b.truncate()
	}
	if err = errors.Join(err, closeLocked(b.file)); err != nil {
		return Explain(b.name, err)
	}
	return nil
}

// isNamed reports whether the name still refers to the open file.
func (b *BadLines) isNamed() bool {
	named, err := os.Lstat(b.name)
	if err != nil {
		return false
	}
	opened, err := b.file.Stat()
	return err == nil && os.SameFile(named, opened)
}
