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

// Plan describes what Run would do.
type Plan struct {
	// Good and Bad are the numbers of lines that can run and that cannot run. Done is the number of good lines that
	// have a record.
	Good, Bad, Done int
	// Format is the format of the input.
	Format Format
	// Changed is the number of good lines whose requests differ from the requests that their records answer. Done
	// includes these lines unless Config.Changed is set.
	Changed int
	// Mistakes describes the errors of the first bad lines, at most five.
	Mistakes []string
	// First counts the lines by the backend that the chain would try first. Skips counts the lines for which the
	// chain would skip a backend before that. Nobody counts the lines that no backend could answer, by Reason.
	First  map[string]int
	Skips  map[Skip]int
	Nobody map[clichain.Reason]int
	// Kinds counts the lines that would run by their permissions, as described by [permit.Describe].
	Kinds map[string]int
	// Elsewhere reports that the workers of another server's queue would answer. First, Skips and Nobody are then
	// empty.
	Elsewhere bool
}

// Skip is a backend that the chain would skip, and the Reason.
type Skip struct {
	Backend string
	Reason  clichain.Reason
}

// maxMistakes limits the length of Plan.Mistakes.
const maxMistakes = 5

// DryRun reads the whole input and returns what Run would do. It writes no file and starts no CLI. It returns a
// [*Mistake] if Run would reject the configuration or a file.
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

// kind describes the permissions that a line requests. If this process answers, the description contains the resolved
// paths.
func (p *Plan) kind(cfg *Config, req clichain.Request) string {
	if !p.Elsewhere {
		if allowed, err := cfg.Permissions.Apply(req); err == nil {
			req = allowed
		}
	}
	return strings.Join(permit.Describe(req), ", ")
}

// place counts the backend that the chain would try first, and the backends that it would skip before that. It starts
// no process.
func (p *Plan) place(ctx context.Context, cfg *Config, chain *clichain.Chain, item *item) {
	if p.Elsewhere {
		return
	}
	skipped := &clichain.ChainError{}
	if failed, ok := errors.AsType[*clichain.ChainError](chain.Ready(ctx)); ok && len(failed.Attempts) == 0 {
		p.Nobody[failed.Reason()]++ // the chain's settings are invalid
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
