package batch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
)

// Plan is what a batch would do. A plain value.
type Plan struct {
	// Good and Bad count the lines that can and that cannot run. Done counts the good lines that have a record.
	Good, Bad, Done int
	// Format is the format of the input.
	Format Format
	// Changed counts the good lines that ask something else than their records answer. They are Done, unless
	// Config.Changed is set.
	Changed int
	// Mistakes says what is wrong with the first bad lines, five at most.
	Mistakes []string
	// First counts the lines by the backend that would be asked first. Skips counts the lines for which a backend would
	// be skipped before that. Nobody counts the lines that no backend could answer, by the Reason.
	First  map[string]int
	Skips  map[Skip]int
	Nobody map[clichain.Reason]int
	// Kinds counts the lines that would run by the permissions that they ask for, in the words of [permit.Describe].
	Kinds map[string]int
	// Elsewhere says that the workers of a queue would answer: First, Skips and Nobody are empty.
	Elsewhere bool
}

// Skip is a backend that would be skipped, and the Reason. A plain value.
type Skip struct {
	Backend string
	Reason  clichain.Reason
}

// maxMistakes limits Plan.Mistakes.
const maxMistakes = 5

// DryRun reads all of the input, and returns what Run would do. It writes no file and starts no CLI. The error of a
// configuration or a file that it refuses is a [*Mistake].
func DryRun(ctx context.Context, cfg *Config) (*Plan, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	src, err := openSource(cfg)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	p := &Plan{
		First: map[string]int{}, Skips: map[Skip]int{}, Nobody: map[clichain.Reason]int{}, Kinds: map[string]int{},
		Elsewhere: cfg.remote(),
	}
	ids := newLedger()
	err = disk.ReadOutput(cfg.Out, parseRecord, func(r *Record) {
		if !cfg.again(r) {
			ids.done(r.ID, r.Asked, r.Error != nil)
		}
	})
	if err != nil {
		return nil, asMistake(err)
	}
	if p.Format, err = src.ready(); err != nil {
		return nil, err
	}
	chain := clichain.ChainOf(cfg.Backends, &cfg.Chain)
	err = src.each(ctx, ids, func(line input.Line, item *item, reason error) error {
		switch {
		case reason != nil:
			p.bad(line, reason)
		case item.done && !(item.changed && cfg.Changed):
			p.Good++
			p.Done++
			if item.changed {
				p.Changed++
			}
		default:
			if p.Good++; item.changed {
				p.Changed++
			}
			p.Kinds[p.kind(cfg, item.Job.Request)]++
			p.place(ctx, cfg, chain, item)
		}
		return nil
	})
	return p, err
}

func (p *Plan) bad(line input.Line, reason error) {
	p.Bad++
	if len(p.Mistakes) < maxMistakes {
		p.Mistakes = append(p.Mistakes, fmt.Sprintf("line %d: %v", line.Number, reason))
	}
}

// kind describes the permissions that a line asks for; where this machine answers, with the real paths.
func (p *Plan) kind(cfg *Config, req clichain.Request) string {
	if !p.Elsewhere {
		if allowed, err := cfg.Permissions.Apply(req); err == nil {
			req = allowed
		}
	}
	return strings.Join(permit.Describe(req), ", ")
}

// place counts the backend that would be asked first, and those that would be skipped before it. It starts nothing.
func (p *Plan) place(ctx context.Context, cfg *Config, chain *clichain.Chain, item *item) {
	if p.Elsewhere {
		return
	}
	skipped := &clichain.ChainError{}
	if failed, ok := errors.AsType[*clichain.ChainError](chain.Ready(ctx)); ok && len(failed.Attempts) == 0 {
		p.Nobody[failed.Reason()]++ // the settings of the chain are invalid
		return
	}
	for _, b := range cfg.Backends {
		err := chain.Check(ctx, b, item.Job.Request)
		if err == nil {
			p.First[b.Name()]++
			return
		}
		a := clichain.Attempt{Backend: b.Name(), Reason: call.AsError(b.Name(), err).Reason, Skipped: true, Err: err}
		p.Skips[Skip{a.Backend, a.Reason}]++
		if skipped.Attempts = append(skipped.Attempts, a); a.StopsChain() {
			break
		}
	}
	p.Nobody[skipped.Reason()]++
}
