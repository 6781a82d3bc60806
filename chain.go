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
	"github.com/clichain/clichain/quota"
)

// ChainConfig configures a [Chain]. The zero value works. [NewChain] and [ChainOf] copy it.
type ChainConfig struct {
	// Config applies to every Provider that [NewChain] makes. Its Binary and Name must be empty if there are several.
	Config
	// Budget limits the whole call, including the time in a queue. If later backends are eligible, each backend gets
	// the remaining time minus MinAttempt for each of them, at most two, as long as at least MinAttempt remains for
	// itself. A CLI gets SIGTERM 2 s before its time limit (a tenth of the limit if it is less than 20 s), and SIGKILL
	// at the limit. Zero: the deadline of the context minus that margin, divided in the same way; in a Nix build,
	// whose limit is 30 s, 25 s. Negative: only the deadline of the context.
	Budget time.Duration
	// MinAttempt is the minimum time for an attempt. A backend that cannot get it is skipped with budget_spent.
	// Terminating the previous backend may use a tenth of it. Zero: 5 s, or five ninths of the call if the call has
	// less than 9 s.
	MinAttempt time.Duration
	// AcceptReset lets a stream continue with the next backend after text was delivered. The reader must discard that
	// text when it gets an [EventReset].
	AcceptReset bool
	// Order sorts the backends of each call by the statistics that the chain has collected. Nil: the order of the
	// list.
	Order order.Strategy
	// Reserve is the share of each usage window of a plan that the calls of this chain leave to others, such as 0.3 for
	// all backends. A backend of which only the reserve is left is skipped with reserved, and RetryAfter is the time at
	// which the reserve permits a call again. Calls in flight are not stopped, so each can pass the reserve once. A
	// backend whose CLI reports no windows is never skipped, unless the share is 1. A chain in this chain has its
	// own Reserve. Zero: nothing is reserved. See docs/how-to/reserve.md.
	Reserve quota.Reserve
	// Replay controls whether the next backend may run a request after an agent with write access has failed. Zero:
	// ReplayIfIdempotent.
	Replay ReplayPolicy
	// MaxCostUSD stops a call, in US dollars, when the known cost of its failed attempts reaches it. Zero: no limit.
	MaxCostUSD float64
	// Accept checks each answer. If it returns an error, the attempt has failed with the reason rejected and that
	// error, and the chain asks the next backend. Accept gets copies of the request and of the answer, whose Attempts
	// are those of its backend. ctx ends with the backend's share of Budget; Config.Timeout does not limit Accept.
	// With AccessWrite or AccessFull, a rejected answer stops the chain like any failure (see Replay), unless it has
	// Changes without SideEffects. A stream has delivered the text before the check (see AcceptReset). A rejected
	// answer starts no cooldown, and a panic of Accept rejects the answer. Accept must be safe for concurrent use.
	// Nil: every answer is accepted. See package accept and docs/how-to/check-an-answer.md.
	Accept func(ctx context.Context, req Request, resp *Response) error
	// Hooks observe each call. Nil: none.
	Hooks *Hooks
	// Name is the name of the chain as a Backend. Empty: "chain".
	Name string
	// Policy overrides rows of the decision table in docs/reference/errors.md.
	Policy map[Reason]Rule
	// Store stores the cooldowns of backends; see docs/explanation/cooldowns.md. A [cooldown.QuotaStore] also stores the
	// usage windows of their accounts. Nil: the memory of this chain. With NoCooldown no backend is ever in cooldown.
	Store      cooldown.Store
	NoCooldown bool
}

// ReplayPolicy controls whether a chain may send a request to its next backend after a backend with AccessWrite or
// AccessFull has failed. With less access, it always may. The zero value means ReplayIfIdempotent.
type ReplayPolicy string

const (
	// ReplayIfIdempotent, also the meaning of the zero value: only if it is certain that the agent used no tool. For
	// a CLI that does not report tools when they start, it is certain only if its first request to the service
	// failed.
	ReplayIfIdempotent ReplayPolicy = "if_idempotent"
	// ReplayAlways: even if the agent used a tool. Use it for idempotent requests.
	ReplayAlways ReplayPolicy = "always"
	// ReplayNever: only if the backend was not started.
	ReplayNever ReplayPolicy = "never"
)

// Rule overrides a row of the decision table; see ChainConfig.Policy. With the zero value, the chain asks the next
// backend and starts no cooldown.
type Rule struct {
	// Stop ends the call: the chain asks no other backend.
	Stop bool
	// Cooldown is the time for which later calls skip the backend.
	Cooldown cooldown.Rule
}

// table returns the decision table of the chain, and the mistakes in Policy.
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

// budget returns Budget, or a time below the 30 s after which a Nix build kills a step.
func (c *ChainConfig) budget() time.Duration {
	if c.Budget == 0 && c.Sandbox != SandboxOff {
		if _, sign := machine.NixBuild(); sign != "" {
			return DefaultTimeout
		}
	}
	return c.Budget
}

// Chain is a [Backend] that asks its backends in order until one answers. The zero value has no backends and fails
// every call; use [NewChain] or [ChainOf]. A Chain is safe for concurrent use.
type Chain struct {
	cfg        ChainConfig
	backends   []Backend
	candidates []candidate // one for each backend
	cooldown   *cooling.Keeper
	loop       failover.Chain

	configErr *BackendError // the mistakes in the settings and in the list of backends

	validated sync.Once // sets invalid
	invalid   []*BackendError
}

// NewChain returns a Chain that has a [Provider] for each spec, in this order. A nil cfg means the defaults. NewChain
// does no I/O. Mistakes in cfg or a spec are reported by [Chain.Validate] and by the calls.
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

// ChainOf returns a Chain of existing backends, which can be chains too. Each backend must have a unique name. A nil
// cfg means the defaults; ChainOf ignores the embedded Config, except for Sandbox and Logger.
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
	if accept := c.cfg.Accept; accept != nil {
		c.loop.Accept = func(ctx context.Context, req Request, resp *Response) error {
			return accept(withoutHooks(ctx), req, resp)
		}
	}
	c.loop.Candidates = make([]failover.Candidate, len(c.candidates))
	for i, b := range c.candidates {
		c.loop.Candidates[i] = b
	}
	c.loop.Stats = failover.NewStats(c.loop.Candidates)
	return c
}

// newKeeper makes the keeper of the cooldowns and the usage windows of a chain.
func newKeeper(cfg *ChainConfig, table policy.Table) *cooling.Keeper {
	k := &cooling.Keeper{
		Store: cfg.Store, Reserve: cfg.Reserve, Rules: table.Cooldowns(),
		Log: cfg.withDefaults().Logger, Began: cfg.Hooks.cooldown(),
	}
	if k.Store == nil {
		k.Store = cooldown.NewMemory()
	}
	var ok bool
	if k.Quotas, ok = k.Store.(cooldown.QuotaStore); !ok {
		k.Quotas = cooldown.NewMemory()
	}
	if cfg.NoCooldown {
		k.Store = nil
	}
	return k
}

// Name returns ChainConfig.Name, or "chain".
func (c *Chain) Name() string {
	if c.cfg.Name == "" {
		return "chain"
	}
	return c.cfg.Name
}

// Complete returns the first answer. Response.Attempts lists the backends that failed or were skipped before it. The
// error is a [*ChainError].
func (c *Chain) Complete(ctx context.Context, req Request) (*Response, error) {
	o := chainview.Of(ctx)
	o.CanReset, o.MilestonesOnly = true, true // Collect drops the text of a failed attempt and reads the last event only
	return call.Collect(c.Stream(chainview.With(ctx, o), req))
}

// Stream yields the events of each backend in turn, and an [EventAttempt] for each backend that failed or was skipped.
// If a backend fails after the reader got text, the stream ends with the error, because delivered text cannot be taken
// back. With ChainConfig.AcceptReset, the stream yields an [EventReset] and continues with the next backend. A backend
// that takes back its text also causes an EventReset; see [Provider.Stream].
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

// claimant returns the first backend that the model name selects, or nil.
func (c *Chain) claimant(model string) failover.Candidate {
	for _, b := range c.candidates {
		if b.Claims(model) {
			return b
		}
	}
	return nil
}

// addressed removes the name of the chain from the model of the request, and returns the first backend that the model
// selects.
func (c *Chain) addressed(req Request) (Request, failover.Candidate) {
	if owner := c.claimant(req.Model); owner != nil {
		return req, owner
	}
	req = contract.Unaddressed(c.Name(), req)
	return req, c.claimant(req.Model)
}

// Backends returns the backends of the chain, in the order of the list. The caller may modify the slice.
func (c *Chain) Backends() []Backend { return slices.Clone(c.backends) }
