package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// badLine is one line of the side file: a line of the input that cannot be run.
type badLine struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
	Input string `json:"input"` // of a line that is too long its beginning
}

// badLines is where they go. The file begins anew with each run, because each run reads all of the input.
type badLines struct {
	name  string    // empty: to notes
	own   bool      // the name was not given: without a bad line there is no file
	notes io.Writer // one line of text for each
	file  *os.File  // nil: nothing was written yet
}

func (b *badLines) open() (err error) {
	if b.file, err = os.OpenFile(b.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666); err != nil {
		return explain(b.name, err)
	}
	return nil
}

// over has notes stand above the status line.
func (b *badLines) over(s *screen) { b.notes = s.line.Over(b.notes) }

// add notes a line, and what is wrong with it.
func (b *badLines) add(line rawLine, mistake error) error {
	if b.name == "" {
		_, err := fmt.Fprintf(b.notes, "clichain: line %d: %s\n", line.number, terminal.OneLine(mistake.Error()))
		return err
	}
	if b.file == nil {
		if err := b.open(); err != nil {
			return err
		}
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

// close ends the file. What a run before has left is removed where all of the input was read without a mistake.
func (b *badLines) close(whole bool) error {
	var err error
	switch {
	case b.file != nil:
		err = b.file.Close()
	case b.own && whole:
		err = os.Remove(b.name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(b.name, err)
	}
	return nil
}
