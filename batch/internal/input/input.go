package input

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Stdin is the name of standard input.
const Stdin = "-"

// Input is a file or a stream of requests.
type Input struct {
	name    string
	r       *bufio.Reader
	file    *os.File // nil: standard input
	regular bool     // the file can be read twice
	format  string   // empty: not known yet
	guessed bool
	comma   rune
	total   int // number of lines, after the whole file was read; -1: not known
}

// Open opens an input of a format. If the format is empty, Open guesses it. Open returns an error if it cannot read
// the file in that format. It does not read from a stream.
func Open(name string, stdin io.Reader, format string) (*Input, error) {
	in := &Input{name: name, format: format, total: -1}
	if name == Stdin {
		in.r = bufio.NewReaderSize(stdin, headBytes)
		return in, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-i %w", err)
	}
	in.file, in.r = f, bufio.NewReaderSize(f, headBytes)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return in, nil
	}
	in.regular = true
	if err = in.begin(); err == nil {
		err = in.examine()
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// Ready waits for the first line of a stream, which determines its format. Call Ready before Lines and Format.
func (i *Input) Ready() error {
	if i.regular {
		return nil
	}
	return i.begin()
}

// Format returns the format of the input.
func (i *Input) Format() string { return i.format }

// IsRegular reports whether the input is a regular file, which can be read without blocking.
func (i *Input) IsRegular() bool { return i.regular }

// Close closes the file. It does not close standard input.
func (i *Input) Close() {
	if i.file != nil {
		_ = i.file.Close() // the file was only read
	}
}

// begin skips a byte order mark and guesses the format if none is configured.
func (i *Input) begin() (err error) {
	line, err := firstLine(i.r)
	if err != nil {
		return nil // the next read reports it
	}
	skipMark(i.r)
	if i.format == "" {
		i.guessed = true
		if i.format, err = guess(i.name, line); err != nil {
			return fmt.Errorf("-i %s: %w", i.name, err)
		}
	}
	i.comma = delimiter(i.format, line)
	return nil
}

func skipMark(b *bufio.Reader) {
	if mark, _ := b.Peek(3); string(mark) == "\ufeff" {
		_, _ = b.Discard(3)
	}
}

// Lines yields the lines that are not blank. It stops after the first error, which it yields with a Line that
// contains the line number.
func (i *Input) Lines() iter.Seq2[Line, error] { return i.linesOf(i.r) }

func (i *Input) linesOf(r io.Reader) iter.Seq2[Line, error] {
	switch i.format {
	case CSV, TSV:
		return readTable(r, i.comma)
	case JSON:
		return readValues(r)
	case Text:
		return readText(r, i.guessed)
	}
	return readLines(r, maxLine)
}

// independent reports whether the lines after a bad line are still readable.
func (i *Input) independent() bool { return i.format == JSONL || i.format == OpenAI }

// sampled is the number of lines of a file that are parsed before the first job runs.
const sampled = 20

// examine reads a file before the first job runs. It rejects a file that it cannot read to the end, and a file whose
// first lines are all bad.
func (i *Input) examine() error {
	f, err := os.Open(i.name)
	if err != nil {
		return fmt.Errorf("-i %w", err)
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, headBytes)
	skipMark(b)
	lines, bad := 0, 0
	var first error
	for line, err := range i.linesOf(b) {
		if err == nil && errors.Is(line.Err, errNoUTF8) {
			err = line.Err
		}
		if err != nil {
			return i.reject(line.Number, err)
		}
		if lines++; lines <= sampled {
			if err := readable(line); err != nil {
				bad++
				first = cmp.Or(first, i.reject(line.Number, err))
			}
		} else if i.independent() {
			break
		}
	}
	if bad > 1 && bad == min(lines, sampled) {
		return first
	}
	if lines <= sampled || !i.independent() {
		i.total = lines
	}
	return nil
}

func (i *Input) reject(number int, err error) error {
	return fmt.Errorf("-i %s: cannot be read as %s: line %d: %w; use --format to select another format",
		i.name, i.format, number, err)
}

// Count returns the number of lines of a regular file. ok is false for a stream, or if ctx ended too early.
func (i *Input) Count(ctx context.Context) (lines int, ok bool) {
	if !i.regular || i.total >= 0 {
		return i.total, i.total >= 0
	}
	f, err := os.Open(i.name)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	return countLines(f, func() bool { return ctx.Err() != nil })
}
