package provider

import (
	"context"
	"iter"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
)

// Complete runs the CLI for one answer. The error is a [*call.Error].
func (p *Provider) Complete(ctx context.Context, req call.Request) (*call.Response, error) {
	o := chainview.Of(ctx)
	o.MilestonesOnly = true
	return call.Collect(p.Stream(chainview.With(ctx, o), req))
}

// milestones delivers only the events that report attempts or usage windows, because each event costs a switch
// between goroutines.
func milestones(emit func(call.Event)) func(call.Event) {
	return func(e call.Event) {
		if e.Kind == call.EventStart || e.Kind == call.EventAttempt || len(e.Quota) > 0 {
			emit(e)
		}
	}
}

// Stream runs the CLI and yields its events.
func (p *Provider) Stream(ctx context.Context, req call.Request) iter.Seq2[call.Event, error] {
	return call.Once(func(yield func(call.Event, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		call.Stream(ctx, func(ctx context.Context, emit func(call.Event)) (*call.Response, error) {
			ctx, leave := p.Settings.Registry.Enter(ctx, p.Name, stop)
			defer leave() // not later, because the reader may wait for it
			if chainview.Of(ctx).MilestonesOnly {
				emit = milestones(emit)
			}
			return p.guarded(ctx, req, emit)
		})(yield)
	})
}

// guarded is converse behind the breaker, if the breaker is on. The calls of a chain count only for the
// cooldowns of the chain.
func (p *Provider) guarded(ctx context.Context, req call.Request, emit func(call.Event)) (*call.Response, error) {
	if p.Settings.Breaker != cooldown.BreakerOn || chainview.Of(ctx).HasFallback != nil {
		return p.converse(ctx, req, emit)
	}
	entry, refused := p.enterBreaker(ctx, p.cooldownCall(req), req)
	if refused != nil {
		return nil, refused
	}
	over := false
	defer func() {
		if !over { // emit panicked
			entry.Left(ctx)
		}
	}()
	resp, err := p.converse(ctx, req, emit)
	over = true
	entry.Ended(ctx, err, ctx.Err() != nil)
	if probed := entry.Probed(); len(probed) > 0 && err == nil {
		resp.Attempts = append(probed, resp.Attempts...)
	} else if len(probed) > 0 {
		failed := *call.AsError(p.Name, err)
		failed.Earlier, err = append(probed, failed.Earlier...), &failed
	}
	return resp, err
}

func (p *Provider) cooldownCall(req call.Request) *backend.CooldownCall {
	return backend.NewCooldownCall(p.Name, &p.Backend, req)
}

// Cooling returns nil, or the error of a request that the breaker would refuse.
func (p *Provider) Cooling(ctx context.Context, req call.Request) *call.Error {
	if p.Settings.Breaker != cooldown.BreakerOn {
		return nil
	}
	return p.Label(p.breaker().Skip(ctx, p.cooldownCall(req)))
}

// Guard begins the start of a session behind the breaker. The Entry is nil if there is no breaker.
func (p *Provider) Guard(ctx context.Context, req call.Request) (*cooling.Entry, error) {
	if p.breaker == nil || p.Settings.Breaker == cooldown.BreakerOff {
		return nil, nil
	}
	entry, refused := p.enterBreaker(ctx, sessionCall{p.cooldownCall(req)}, req)
	if refused != nil {
		return nil, refused
	}
	return entry, nil
}

// sessionCall is the start of a session, which no prompt can cause to fail.
type sessionCall struct{ *backend.CooldownCall }

// Request returns nil: the process gets its prompt later.
func (sessionCall) Request() *call.Request { return nil }

// enterBreaker begins a call, after a probe if the breaker is in doubt.
func (p *Provider) enterBreaker(ctx context.Context, c cooling.Call, req call.Request) (*cooling.Entry, *call.Error) {
	entry, refused := p.breaker().Enter(ctx, c)
	if refused == nil {
		ask := func(ctx context.Context, req call.Request) (*call.Response, error) {
			return p.converse(ctx, req, func(call.Event) {})
		}
		refused = entry.Confirm(ctx, func() ([]call.Attempt, bool, error) {
			probed, cutShort, err := cooling.Probe(ctx, ctx, c, req, ask)
			return probed, cutShort || ctx.Err() != nil, err
		})
	}
	return entry, p.Label(refused)
}
