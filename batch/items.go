package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/clichain/clichain/batch/internal/input"
)

// source is the input of a run.
type source struct {
	*input.Input
	name   string
	parser *input.Parser
}

func openSource(cfg *Config) (*source, error) {
	p := &input.Parser{
		Defaults: cfg.Defaults, Permissions: cfg.Permissions, Remote: cfg.remote(), AdviceText: cfg.AdviceText,
	}
	in, err := input.Open(cfg.In, cfg.Stdin, string(cfg.Format))
	if err != nil {
		return nil, &Mistake{err}
	}
	return &source{in, cfg.In, p}, nil
}

// ready waits for the first line of a stream and returns the format.
func (s *source) ready() (Format, error) {
	if err := s.Ready(); err != nil {
		return "", &Mistake{err}
	}
	return Format(s.Format()), nil
}

// item is a line that can run.
type item struct {
	*input.Parsed
	asked   Digest
	done    bool // the output contains a record of the line
	changed bool // the record answers another request
}

// errTwice is the error for a line whose id an earlier line also has.
var errTwice = errors.New("id: an earlier line has the same id: use a unique id, or none")

// each calls do for each line, with an item or with the reason why the line cannot run.
func (s *source) each(
	ctx context.Context, ids *ledger, do func(line input.Line, item *item, reason error) error,
) error {
	for line, err := range s.Lines() {
		if err != nil {
			return fmt.Errorf("-i %s: line %d cannot be read: %w", s.name, line.Number, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		item, reason := s.item(ctx, line, ids)
		if err := do(line, item, reason); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) item(ctx context.Context, line input.Line, ids *ledger) (*item, error) {
	parsed, err := s.parser.Parse(ctx, line)
	if err != nil {
		return nil, err
	}
	before := ids.read(parsed.Job.ID)
	if before.state&stateRead != 0 {
		return nil, errTwice
	}
	req := &parsed.Job.Request
	asked := digestOf(req)
	req.Metadata = withDigest(req.Metadata, asked)
	done := before.state&stateDone != 0
	return &item{parsed, asked, done, done && before.asked.differs(asked)}, nil
}
