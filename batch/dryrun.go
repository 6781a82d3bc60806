package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/permit"
)

// Plan says what a batch would do. A plain value.
type Plan struct {
	Good, Bad, Done int
	// Format is that of the input.
	Format Format
	// Changed are the good lines that ask something else than their records were asked for. They are Done, unless
	// Config.Changed is set.
	Changed int
	// Mistakes are those of the first bad lines.
	Mistakes []string
	// First counts the lines by the backend that would be asked first, Skips those for which a backend would be passed
	// over before that, and Nobody those that none could answer, by why not.
	First  map[string]int
	Skips  map[Skip]int
	Nobody map[clichain.Reason]int
	// Kinds counts the lines that would run by what they ask for besides an answer, as [permit.Describe] says it.
	Kinds map[string]int
	// Elsewhere: the workers of a queue would decide.
	Elsewhere bool
}

// Skip is why a backend is passed over. A plain value.
type Skip struct {
	Backend string
	Reason  clichain.Reason
}

// maxMistakes is how many bad lines a plan shows.
const maxMistakes = 5

// DryRun reads all of the input and says what would run where. It writes nothing and starts no CLI.
func DryRun(ctx context.Context, cfg *Config) (*Plan, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	p := &Plan{
		First: map[string]int{}, Skips: map[Skip]int{}, Nobody: map[clichain.Reason]int{}, Kinds: map[string]int{},
		Elsewhere: cfg.remote(),
	}
	ids := newLedger()
	if err := p.readOutput(cfg, ids); err != nil {
		return nil, err
	}
	in, err := openInput(cfg)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.ready(); err != nil {
		return nil, err
	}
	chain := dryChain(cfg)
	err = cfg.read(ctx, in, ids, func(line rawLine, item *item, mistake error) error {
		switch {
		case mistake != nil:
			p.bad(line, mistake)
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
			p.Kinds[p.kind(cfg, item.job.Request)]++
			p.place(ctx, chain, item)
		}
		return nil
	})
	p.Format = in.format
	return p, err
}

func (p *Plan) readOutput(cfg *Config, ids *ledger) error {
	f, err := os.Open(cfg.Out)
	if cfg.Out == stream || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain(cfg.Out, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	_, _, err = scanRecords(cfg.Out, f, func(r *Record, _ []byte) {
		if !cfg.again(r) {
			ids.done(r)
		}
	})
	return err
}

func (p *Plan) bad(line rawLine, mistake error) {
	p.Bad++
	if len(p.Mistakes) < maxMistakes {
		p.Mistakes = append(p.Mistakes, fmt.Sprintf("line %d: %v", line.number, mistake))
	}
}

// kind says what a line asks for besides an answer; where this machine answers, with its real paths.
func (p *Plan) kind(cfg *Config, req clichain.Request) string {
	if !p.Elsewhere {
		if allowed, err := cfg.Permissions.Apply(req); err == nil {
			req = allowed
		}
	}
	return strings.Join(permit.Describe(req), ", ")
}

// place finds out who would be asked first.
func (p *Plan) place(ctx context.Context, chain *clichain.Chain, item *item) {
	if p.Elsewhere {
		return
	}
	resp, err := chain.Complete(ctx, item.job.Request)
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

// asked counts the backend that would be asked first, and those before it. What a dry backend answers may not meet the
// request's schema: it would have been asked all the same.
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
