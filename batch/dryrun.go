package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
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
	chain := dryChain(cfg)
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
			p.place(ctx, chain, item)
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

// place counts the backend that would be asked first.
func (p *Plan) place(ctx context.Context, chain *clichain.Chain, item *item) {
	if p.Elsewhere {
		return
	}
	resp, err := chain.Complete(ctx, item.Job.Request)
	failed, _ := errors.AsType[*clichain.ChainError](err)
	switch {
	case resp != nil:
		p.asked(resp.Attempts, resp.Backend)
	case failed != nil:
		if !p.asked(failed.Attempts, "") {
			p.Nobody[failed.Reason()]++
		}
	}
}

// asked counts the backend that would be asked first, and those that would be skipped. The answer of a dry backend may
// fail validation by the schema of the request: the backend would be asked all the same.
func (p *Plan) asked(attempts []clichain.Attempt, last string) bool {
	for _, a := range attempts {
		if !a.Skipped {
			last = a.Backend
			break
		}
		p.Skips[Skip{a.Backend, a.Reason}]++
	}
	if last == "" {
		return false
	}
	p.First[last]++
	return true
}

// unasked is a backend that answers every request, and nothing of use.
func unasked(name string) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "{}"}, nil
	})
}

// dry is a backend that answers what its CLI would be started for.
type dry struct{ *clichain.Provider }

// Unwrap returns the Provider, so that the chain skips it as it would skip the Provider.
func (d dry) Unwrap() clichain.Backend { return d.Provider }

// Complete answers nothing of use.
func (d dry) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(d.Stream(ctx, req))
}

// Stream answers nothing of use, unless the request would be refused.
func (d dry) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Stream(ctx, func(ctx context.Context, _ func(clichain.Event)) (*clichain.Response, error) {
		if err := d.Check(ctx, req); err != nil {
			return nil, err
		}
		return &clichain.Response{Text: "{}", Backend: d.Name()}, nil
	})
}

// dryChain is the chain of a batch with backends that start nothing.
func dryChain(cfg *Config) *clichain.Chain {
	backends := make([]clichain.Backend, len(cfg.Backends))
	for i, b := range cfg.Backends {
		if p, ok := b.(*clichain.Provider); ok {
			backends[i] = dry{p}
		} else {
			backends[i] = unasked(b.Name())
		}
	}
	chain := cfg.Chain
	chain.Hooks = nil
	if chain.Store == nil {
		chain.NoCooldown = true
	} else {
		chain.Store = readOnly{chain.Store}
	}
	return clichain.ChainOf(backends, &chain)
}

// readOnly is a store that keeps what it has.
type readOnly struct{ cooldown.Store }

// Update changes nothing.
func (readOnly) Update(context.Context, string, func(cooldown.State) cooldown.State) error {
	return nil
}
