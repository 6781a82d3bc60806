package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// input is the lines that are asked.
type input struct {
	r    io.Reader
	file *os.File // nil: a stream
}

func openInput(cfg *Config) (*input, error) {
	if cfg.In == stream {
		return &input{r: cfg.Stdin}, nil
	}
	f, err := os.Open(cfg.In)
	if err != nil {
		return nil, &Mistake{fmt.Errorf("-i %w", err)}
	}
	return &input{f, f}, nil
}

func (i *input) close() {
	if i.file != nil {
		_ = i.file.Close() // it was only read
	}
}

// count finds out how many lines a file has, for the time that is left; of a stream nobody can know.
func (i *input) count(ctx context.Context, t *tally) {
	if i.file == nil {
		return
	}
	f, err := os.Open(i.file.Name())
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
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
}

// errTwice is the mistake of a line whose id another line has.
var errTwice = errors.New("id: a line before has the same: every line needs another, or none")

// read gives each line of the input to do: with an item, or with the mistake in the line.
func (c *Config) read(
	ctx context.Context, r io.Reader, ids *ledger, do func(line rawLine, item *item, mistake error) error,
) error {
	for line, err := range rawLines(r, maxLine) {
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
	entry, err := parseEntry(line.text)
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
	if err := job.Validate(); err != nil {
		return nil, errors.New(said(err))
	}
	if err := c.place(&job.Request); err != nil {
		return nil, err
	}
	if err := mistakeIn(ctx, job.Request); err != nil {
		return nil, err
	}
	if _, err := c.Permissions.Apply(job.Request); err != nil {
		return nil, errors.New(said(err))
	}
	before := ids.read(job.ID)
	if before.state&stateRead != 0 {
		return nil, errTwice
	}
	asked := digestOf(&job.Request)
	job.Request.Metadata = withDigest(job.Request.Metadata, asked)
	done := before.state&stateDone != 0
	return &item{job, asked, done, done && before.asked.differs(asked)}, nil
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
