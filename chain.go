package clichain

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/failover"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/order"
)

// ChainConfig sets how a chain works. The zero value works. It is copied when
// the chain is made.
type ChainConfig struct {
	// Config applies to every provider that [NewChain] makes. Its Binary and
	// its Name must be empty when there are several.
	Config
	// Budget bounds the whole call, over all backends; time in a queue counts.
	// The first backend has all of it but MinAttempt for each of at most two that
	// could answer after it, as long as it has as much itself, and so on. A CLI
	// is asked to end 2 s before its time is over, or a tenth of what is less
	// than 20 s, and then killed. Zero: none but the context's deadline, which is
	// split in the same way, less that margin; inside a Nix build, which ends
	// after 30 s, 25 s. Negative: none.
	Budget time.Duration
	// MinAttempt is the least time for which a backend is asked; one that cannot
	// have it is skipped with budget_spent; the end of the one before may take a
	// tenth of it. Zero: 5 s, and in a call of less than 9 s more than half of it.
	MinAttempt time.Duration
	// AcceptReset lets a stream go on to the next backend after it delivered
	// text: the reader promises to drop that text when a "reset" event comes.
	AcceptReset bool
	// Order is how the backends are ordered for a call, from what the chain has
	// seen of them. Nil: as they were given.
	Order order.Strategy
	// Replay says whether a request may be run again elsewhere after an agent
	// with write access began. Zero: ReplayIfIdempotent.
	Replay ReplayPolicy
	// MaxCostUSD ends a call whose failed attempts are known to have cost that
	// much, in US dollars, before it costs more. Zero: no bound.
	MaxCostUSD float64
	// Hooks watch each call. Nil: none.
	Hooks *Hooks
	// Name is what the chain is called as a Backend. Empty: "chain".
	Name string
	// Policy changes rows of the decision table in docs/reference/errors.md.
	Policy map[Reason]Rule
	// Store keeps which backends cool down after failures: see
	// docs/explanation/cooldowns.md. Nil: this chain's memory. NoCooldown asks every backend
	// at every call.
	Store      cooldown.Store
	NoCooldown bool
}

// ReplayPolicy says whether a chain may run a request again on its next
// backend, after one that had AccessWrite or AccessFull has failed. With less
// access it always may.
type ReplayPolicy string

const (
	// ReplayIfIdempotent, also the meaning of the zero value: as long as it is
	// certain that no tool was used. A CLI that does not show its tools, or not
	// before they have ended, makes it so only by failing at its first request.
	ReplayIfIdempotent ReplayPolicy = "if_idempotent"
	// ReplayAlways: even then. For requests that do no harm twice.
	ReplayAlways ReplayPolicy = "always"
	// ReplayNever: not once the backend was started.
	ReplayNever ReplayPolicy = "never"
)

// Rule takes the place of a row of the decision table; see ChainConfig.Policy.
// The zero value goes on to the next backend, without a cooldown.
type Rule struct {
	// Stop ends the chain: no further backend is asked.
	Stop bool
	// Cooldown is how long later calls pass the backend over.
	Cooldown cooldown.Rule
}

// table is the decision table of the chain, and what is wrong with the rules for it.
func (c *ChainConfig) table() (policy.Table, []*BackendError) {
	if len(c.Policy) == 0 {
		return policy.Default, nil
	}
	rules := make(map[Reason]policy.Rule, len(c.Policy))
	for reason, rule := range c.Policy {
		rules[reason] = policy.Rule(rule)
	}
	return policy.With(rules)
}

// budget is Budget or, where a sandbox ends every step after 30 s, a time below that.
func (c *ChainConfig) budget() time.Duration {
	if c.Budget == 0 && c.Sandbox != SandboxOff {
		if _, sign := machine.NixBuild(); sign != "" {
			return DefaultTimeout
		}
	}
	return c.Budget
}

// Chain asks its backends in order until one answers. It is safe for
// concurrent use, and is a [Backend] itself.
type Chain struct {
	cfg        ChainConfig
	backends   []Backend
	candidates []candidate // one for each backend
	cooldown   *cooling.Keeper
	loop       failover.Chain

	configErr *BackendError // what is wrong with the settings, or the list of backends

	validated sync.Once // sets invalid
	invalid   []*BackendError
}

// NewChain makes a chain of a Provider for each spec, in the order given. A nil
// cfg means defaults.
func NewChain(specs []CliSpec, cfg *ChainConfig) *Chain {
	var provider Config
	if cfg != nil {
		provider = cfg.Config
	}
	backends := make([]Backend, len(specs))
	for i, spec := range specs {
		p := NewProvider(spec, &provider)
		if provider.Binary != "" && len(specs) > 1 {
			p.impl.Invalidate(call.ConfigErrorf("config.binary",
				"%q cannot be the program of %d backends: use ChainOf with a Provider each", provider.Binary, len(specs)))
		}
		backends[i] = p
	}
	return ChainOf(backends, cfg)
}

// ChainOf makes a chain of backends that exist already, other chains among
// them. A nil cfg means defaults; its Config part is not used. Each backend has
// a name of its own.
func ChainOf(backends []Backend, cfg *ChainConfig) *Chain {
	c := new(Chain)
	if cfg != nil {
		c.cfg = *cfg
	}
	c.backends, c.candidates = make([]Backend, 0, len(backends)), make([]candidate, 0, len(backends))
	c.setBackends(backends)
	table, _ := c.cfg.table()
	c.cooldown = newKeeper(&c.cfg, table)
	c.loop = failover.Chain{
		Order: c.cfg.Order, MinAttempt: c.cfg.MinAttempt, MaxCostUSD: c.cfg.MaxCostUSD,
		ReplayAlways: c.cfg.Replay == ReplayAlways, ReplayNever: c.cfg.Replay == ReplayNever,
		Table: table, Cooldowns: c.cooldown, Validate: c.validateInBackground,
	}
	c.loop.Candidates = make([]failover.Candidate, len(c.candidates))
	for i, b := range c.candidates {
		c.loop.Candidates[i] = b
	}
	c.loop.Stats = failover.NewStats(c.loop.Candidates)
	return c
}

// newKeeper makes the keeper of a chain's cooldowns.
func newKeeper(cfg *ChainConfig, table policy.Table) *cooling.Keeper {
	k := &cooling.Keeper{
		Store: cfg.Store, Rules: table.Cooldowns(), Log: cfg.withDefaults().Logger, Began: cfg.Hooks.cooldown(),
	}
	switch {
	case cfg.NoCooldown:
		k.Store = nil
	case k.Store == nil:
		k.Store = cooldown.NewMemory()
	}
	return k
}

// Name is ChainConfig.Name, or "chain".
func (c *Chain) Name() string {
	if c.cfg.Name == "" {
		return "chain"
	}
	return c.cfg.Name
}

// Complete returns the first answer; Response.Attempts holds what came before it. The error is a [*ChainError].
func (c *Chain) Complete(ctx context.Context, req Request) (*Response, error) {
	o := chainview.Of(ctx)
	o.CanReset, o.MilestonesOnly = true, true // Collect drops the text of a failed attempt and reads the last event only
	return call.Collect(c.Stream(chainview.With(ctx, o), req))
}

// Stream yields the events of each backend in turn, and an "attempt" event for
// each that failed or was skipped. Once text was delivered, a failure ends the
// chain, because the reader cannot unread it, unless ChainConfig.AcceptReset is
// set: then a "reset" event comes before what the next backend says. A backend
// that takes back its own text makes one whatever is set: see [Provider.Stream].
func (c *Chain) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return call.Once(func(read func(Event, error) bool) {
		var resp *Response
		var err error
		watch := newWatch(ctx, c.cfg.Hooks)
		watch.callStart(req)
		defer func() { watch.end(resp, err) }()
		yield := func(e Event, err error) bool {
			if err == nil {
				watch.see(e)
			}
			return read(e, err)
		}
		loop := c.newLoop(ctx, req, func(e Event) bool { return yield(e, nil) })
		answer, failure := c.answer(loop)
		switch {
		case loop.ReaderLeft():
		case failure != nil:
			err = failure
			yield(Event{}, err)
		default:
			resp = answer
			c.warnOfInvalid(resp)
			addWarning(resp, loop.StoreProblem())
			yield(Event{Kind: EventDone, Backend: resp.Backend, Response: resp}, nil)
		}
	})
}

func (c *Chain) newLoop(ctx context.Context, req Request, emit func(Event) bool) *failover.Loop {
	l := &failover.Loop{
		Chain: &c.loop, Caller: withHooks(ctx, c.cfg.Hooks), Emit: emit, Outer: chainview.Of(ctx),
	}
	l.Req, l.Owner = c.addressed(req)
	l.CanReset = c.cfg.AcceptReset || l.Outer.CanReset
	l.MilestonesOnly = l.Outer.MilestonesOnly && !hearEvents(hooksOf(l.Caller))
	return l
}

func (c *Chain) answer(l *failover.Loop) (*Response, *ChainError) {
	if err := cmp.Or(c.configErr, compose.Check(l.Req)); err != nil {
		return nil, &ChainError{Cause: err}
	}
	return l.Run(c.cfg.budget())
}

// claimant is the first backend that the model name addresses, or nil.
func (c *Chain) claimant(model string) failover.Candidate {
	for _, b := range c.candidates {
		if b.Claims(model) {
			return b
		}
	}
	return nil
}

// addressed is the request without the chain's own name in its model, and the first backend that the model addresses.
func (c *Chain) addressed(req Request) (Request, failover.Candidate) {
	if owner := c.claimant(req.Model); owner != nil {
		return req, owner
	}
	req = contract.Unaddressed(c.Name(), req)
	return req, c.claimant(req.Model)
}

// Backends returns the chain's backends, in its order.
func (c *Chain) Backends() []Backend { return slices.Clone(c.backends) }
