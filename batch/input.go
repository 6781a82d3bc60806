package batch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// input is the lines that are asked.
type input struct {
	name    string
	r       *bufio.Reader
	file    *os.File // nil: standard input
	regular bool     // it can be read twice
	format  Format   // empty: not known yet
	guessed bool
	comma   rune
	total   int // of a file that was read to its end before; -1: not known
}

// openInput opens the input. A file that cannot be read as its format says is a mistake; a stream is looked at when its
// first line is wanted.
func openInput(cfg *Config) (*input, error) {
	in := &input{name: cfg.In, format: cfg.Format, total: -1}
	if cfg.In == stream {
		in.r = bufio.NewReaderSize(cfg.Stdin, headBytes)
		return in, nil
	}
	f, err := os.Open(cfg.In)
	if err != nil {
		return nil, &Mistake{fmt.Errorf("-i %w", err)}
	}
	in.file, in.r = f, bufio.NewReaderSize(f, headBytes)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return in, nil
	}
	in.regular = true
	if err = in.begin(); err == nil {
		err = in.examine(cfg)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// ready waits for the first line of a stream, which tells its format.
func (i *input) ready() error {
	if i.regular {
		return nil
	}
	return i.begin()
}

func (i *input) close() {
	if i.file != nil {
		_ = i.file.Close() // it was only read
	}
}

// begin tells the format where it is not given.
func (i *input) begin() (err error) {
	line, err := firstLine(i.r)
	if err != nil {
		return nil // the next read reports it
	}
	skipMark(i.r)
	if i.format == "" {
		i.guessed = true
		if i.format, err = guess(i.name, line); err != nil {
			return &Mistake{fmt.Errorf("-i %s: %w", i.name, err)}
		}
	}
	i.comma = delimiter(i.format, line)
	return nil
}

// linesOf yields the lines of a reader, which begins as the input does.
func (i *input) linesOf(r io.Reader) iter.Seq2[rawLine, error] {
	switch i.format {
	case CSV, TSV:
		return tableRows(r, i.comma)
	case JSON:
		return arrayLines(r)
	case Text:
		return textLines(r, i.guessed)
	}
	return rawLines(r, maxLine)
}

// sampled is how many lines of a file are tried before anything is asked.
const sampled = 20

// examine reads a file before anything is asked. One that breaks off, or of whose first lines none can be read, is
// rejected as a whole.
func (i *input) examine(c *Config) error {
	f, err := os.Open(i.name)
	if err != nil {
		return &Mistake{fmt.Errorf("-i %w", err)}
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, headBytes)
	skipMark(b)
	lines, bad := 0, 0
	var first error
	for line, err := range i.linesOf(b) {
		if err == nil && errors.Is(line.mistake, errNoUTF8) {
			err = line.mistake
		}
		if err != nil {
			return i.reject(line.number, err)
		}
		if lines++; lines <= sampled {
			if err := c.readable(line); err != nil {
				bad++
				first = cmp.Or(first, i.reject(line.number, err))
			}
		} else if i.format == JSONL || i.format == OpenAI {
			break // the lines stand alone: a bad one stops nothing
		}
	}
	if bad > 1 && bad == min(lines, sampled) {
		return first
	}
	if lines <= sampled || i.format != JSONL && i.format != OpenAI {
		i.total = lines
	}
	return nil
}

func (i *input) reject(number int, err error) error {
	return &Mistake{fmt.Errorf("-i %s: cannot be read as %s: line %d: %w; --format names another format",
		i.name, i.format, number, err)}
}

// readable is the mistake in how a line is written.
func (c *Config) readable(line rawLine) error {
	if line.mistake != nil || line.long {
		return cmp.Or(line.mistake, errLongRecord)
	}
	e, err := c.parseLine(line.text)
	if err == nil && e.prompt == nil && e.messages == nil {
		err = errNothingAsked
	}
	return err
}

// count finds out how many lines a file has, for the time that is left; of a stream nobody can know.
func (i *input) count(ctx context.Context, t *tally) {
	if i.total >= 0 {
		t.change(func(c *Counts) { c.Total = i.total })
	}
	if !i.regular || i.total >= 0 {
		return
	}
	f, err := os.Open(i.file.Name())
	if err != nil {
		return
	}
	defer f.Close()
	if n, whole := countLines(f, func() bool { return ctx.Err() != nil }); whole {
		t.change(func(c *Counts) { c.Total = n })
	}
}

// item is a good line.
type item struct {
	job     jetstream.Job
	asked   digest
	done    bool // the output has it
	changed bool // but it has asked something else

	extra   bool     // it has values that are no part of a request
	ignored []string // fields that have no effect
}

// errTwice is the mistake of a line whose id another line has.
var errTwice = errors.New("id: a line before has the same: every line needs another, or none")

// read gives each line of the input, which is ready, to do: with an item, or with the mistake in the line.
func (c *Config) read(
	ctx context.Context, in *input, ids *ledger, do func(line rawLine, item *item, mistake error) error,
) error {
	for line, err := range in.linesOf(in.r) {
		if err != nil {
			return fmt.Errorf("-i %s: line %d cannot be read: %w", c.In, line.number, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		item, mistake := c.item(ctx, line, ids)
		if err := do(line, item, mistake); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) item(ctx context.Context, line rawLine, ids *ledger) (*item, error) {
	if line.long {
		return nil, fmt.Errorf("is longer than %d MiB", maxLine>>20)
	}
	if line.mistake != nil {
		return nil, line.mistake
	}
	entry, err := c.parseLine(line.text)
	if err != nil {
		return nil, err
	}
	job, err := entry.job(c.Defaults)
	if err != nil {
		return nil, err
	}
	if job.ID == "" {
		job.ID = contentID(line.text, ids)
	}
	if err := c.permitted(ctx, &job); err != nil {
		return nil, err
	}
	before := ids.read(job.ID)
	if before.state&stateRead != 0 {
		return nil, errTwice
	}
	asked := digestOf(&job.Request)
	job.Request.Metadata = withDigest(job.Request.Metadata, asked)
	done := before.state&stateDone != 0
	return &item{
		job: job, asked: asked, done: done, changed: done && before.asked.differs(asked),
		extra: len(entry.extra) > 0, ignored: entry.ignored,
	}, nil
}

// permitted finds what makes a job fail at every backend, and what the operator has not allowed.
func (c *Config) permitted(ctx context.Context, job *jetstream.Job) error {
	if err := job.Validate(); err != nil {
		return errors.New(said(err))
	}
	if err := c.place(&job.Request); err != nil {
		return err
	}
	if err := mistakeIn(ctx, job.Request); err != nil {
		return err
	}
	if _, err := c.Permissions.Apply(job.Request); err != nil {
		return errors.New(said(err))
	}
	return nil
}

// place makes the folder of a request mean the same for a later run from elsewhere. Workers of another machine have
// folders of their own.
func (c *Config) place(req *clichain.Request) (err error) {
	switch {
	case req.Dir == "" || filepath.IsAbs(req.Dir):
		return nil
	case c.remote():
		return fmt.Errorf("dir: %q: give an absolute path: the line may run on another machine", req.Dir)
	}
	req.Dir, err = filepath.Abs(req.Dir)
	return err
}
