package clichain

import (
	"context"
	"iter"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/failover"
)

// candidate is a backend in a chain. The chain makes one for each Backend when it is created.
type candidate interface {
	failover.Candidate
	// unnamed reports whether the backend may have an empty name in a chain.
	unnamed() bool
	// invalid returns the mistakes in the settings of the backend.
	invalid() []*BackendError
	// ready returns nil, or the error with which any request would be skipped.
	ready(ctx context.Context) error
	// check returns nil, or the error with which the request would be skipped or refused.
	check(ctx context.Context, req Request) error
}

func init() {
	cooling.KeeperOf = func(b any) *cooling.Keeper {
		if p, ok := b.(*Provider); ok {
			return p.impl.Breaker()
		}
		return b.(*Chain).cooldown
	}
	cooling.CallOf = func(b any, req Request) cooling.Call { return candidateOf(b.(Backend)).Cooldown(req) }
}

// candidateOf is the only function that distinguishes the kinds of backends.
func candidateOf(b Backend) candidate {
	switch b := b.(type) {
	case *Chain:
		return chainCandidate{b}
	case *Provider:
		return providerCandidate{custom{b, true}, b}
	case *function:
		return custom{b, true}
	}
	if p := unwrapProvider(b); p != nil {
		return providerCandidate{custom{b, false}, p}
	}
	return custom{b, false}
}

// unwrapProvider returns the Provider that a backend is or wraps, or nil.
func unwrapProvider(b Backend) *Provider {
	for {
		if p, ok := b.(*Provider); ok {
			return p // may be nil
		}
		wrapper, ok := b.(interface{ Unwrap() Backend })
		if !ok {
			return nil
		}
		b = wrapper.Unwrap()
	}
}

// runsCLIs reports whether a backend is or wraps a Provider or a Chain.
func runsCLIs(b Backend) bool {
	for {
		switch b.(type) {
		case *Provider, *Chain:
			return true
		}
		wrapper, ok := b.(interface{ Unwrap() Backend })
		if !ok {
			return false
		}
		b = wrapper.Unwrap()
	}
}

// custom is a backend of another package, or a function.
type custom struct {
	Backend
	checked bool // its stream follows the rules of Backend
}

func (c custom) Claims(model string) bool { return contract.Addresses(c.Name(), model) }
func (c custom) Cooldown(req Request) cooling.Call {
	return backend.NewCooldownCall(c.Name(), nil, req)
}
func (c custom) Observed() bool                             { return true } // it may call a Provider with its context
func (c custom) unnamed() bool                              { return false }
func (c custom) invalid() []*BackendError                   { return nil }
func (c custom) check(ctx context.Context, _ Request) error { return c.ready(ctx) }

func (c custom) CanServe(ctx context.Context, _ Request) bool {
	return c.ready(ctx) == nil && (call.HostToolsOf(ctx) == nil || runsCLIs(c.Backend))
}

// Stream removes the hooks of the chain from the context: a chain that the backend may call is not nested in this
// one.
func (c custom) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	if call.HostToolsOf(ctx) != nil && !runsCLIs(c.Backend) {
		return func(yield func(Event, error) bool) {
			yield(Event{}, &BackendError{
				Backend: c.Name(), Reason: ReasonUnsupported, ExitCode: -1, Stage: call.StageSkipped, Option: "tools",
				Message: "this backend cannot offer functions of the caller to a model",
			})
		}
	}
	if ctx = withoutHooks(ctx); c.checked {
		return c.Backend.Stream(ctx, req)
	}
	return validated(ctx, c.Name(), req, c.Backend.Stream)
}

func (c custom) ready(ctx context.Context) error {
	if b, ok := c.Backend.(interface{ Available(context.Context) error }); ok {
		return b.Available(ctx)
	}
	return nil
}

// providerCandidate is a Provider, or a backend that wraps one.
type providerCandidate struct {
	custom
	p *Provider
}

func (c providerCandidate) Observed() bool { return !c.checked }
func (c providerCandidate) unnamed() bool  { return c.Name() == "" } // the spec reports the missing name

func (c providerCandidate) Claims(model string) bool {
	return model != "" && (c.p.impl.Claims(model) || c.custom.Claims(model))
}

func (c providerCandidate) Cooldown(req Request) cooling.Call {
	return backend.NewCooldownCall(c.Name(), &c.p.impl.Backend, req)
}

func (c providerCandidate) CanServe(ctx context.Context, req Request) bool {
	return c.p.impl.CanServe(ctx, req)
}

func (c providerCandidate) ready(ctx context.Context) error {
	if _, ok := c.Backend.(interface{ Available(context.Context) error }); ok {
		return c.custom.ready(ctx)
	}
	return c.p.Available(ctx)
}

func (c providerCandidate) check(ctx context.Context, req Request) error { return c.p.Check(ctx, req) }

func (c providerCandidate) invalid() []*BackendError {
	if err := c.p.impl.Label(c.p.impl.Invalid()); err != nil {
		return []*BackendError{err}
	}
	return nil
}

// chainCandidate is a chain in another chain.
type chainCandidate struct{ *Chain }

func (c chainCandidate) Cooldown(req Request) cooling.Call {
	return chainCall{backend.NewCooldownCall(c.Name(), nil, req)}
}
func (c chainCandidate) Observed() bool                             { return false }
func (c chainCandidate) unnamed() bool                              { return c.cfg.Name == "" }
func (c chainCandidate) check(ctx context.Context, _ Request) error { return c.ready(ctx) }

func (c chainCandidate) Claims(model string) bool {
	return c.claimant(model) != nil || contract.Addresses(c.Name(), model)
}

func (c chainCandidate) CanServe(ctx context.Context, req Request) bool {
	return slices.ContainsFunc(c.candidates, func(inner candidate) bool {
		return c.cooldown.Skip(ctx, inner.Cooldown(req)) == nil && inner.CanServe(ctx, req)
	})
}

func (c chainCandidate) ready(ctx context.Context) error {
	if failure := c.readiness(ctx); failure != nil {
		return failure
	}
	return nil
}

func (c chainCandidate) invalid() []*BackendError {
	list := slices.Clone(c.invalidBackends())
	if c.configErr != nil {
		own := *c.configErr
		own.Backend = c.Name()
		list = append(list, &own)
	}
	return list
}

// chainCall is a call of a chain. The chain has no cooldown, but its backends do.
type chainCall struct{ *backend.CooldownCall }

// Key returns false: there is no cooldown.
func (chainCall) Key() (key string, ok bool) { return "", false }
