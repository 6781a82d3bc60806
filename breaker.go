package clichain

import (
	"context"
	"log/slog"
	"sync"

	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
)

// BreakerPolicy says for which calls of a [Provider] its circuit breaker stands.
type BreakerPolicy string

const (
	// BreakerSessions, also the meaning of the zero value: for the sessions of package
	// live.
	BreakerSessions BreakerPolicy = "sessions"
	// BreakerOn: for Complete and Stream too, where no chain makes the call.
	BreakerOn BreakerPolicy = "on"
	// BreakerOff: for none.
	BreakerOff BreakerPolicy = "off"
)

// breakerRules count alike all failures after which a chain gives a backend a cooldown.
var breakerRules = sync.OnceValue(func() map[Reason]cooldown.Rule {
	rules := map[Reason]cooldown.Rule{}
	for reason, row := range policy {
		if row.cools.Base > 0 {
			rules[reason] = runCooldown
		}
	}
	return rules
})

// newBreaker makes the breaker of a provider when it is first needed.
func newBreaker(log *slog.Logger) func() *cooling.Keeper {
	return sync.OnceValue(func() *cooling.Keeper {
		return &cooling.Keeper{Store: cooldown.NewMemory(), Rules: breakerRules(), Log: log}
	})
}

// Guard begins a session for the provider's breaker. Package live is made of it, and closes
// the entry, which is nil where no breaker stands, with the outcome of each turn. The
// error is a [*BackendError] with the reason cooling_down.
func (p *Provider) Guard(ctx context.Context, req Request) (*cooling.Entry, error) {
	if p.breaker == nil || p.cfg.Breaker == BreakerOff {
		return nil, nil
	}
	entry, refused := p.breaker().Enter(ctx, cooldownCall{p, req})
	if refused != nil {
		return nil, p.label(refused)
	}
	return entry, nil
}

// guarded is converse behind the breaker, where one stands. The calls of a chain count for the chain's cooldowns alone.
func (p *Provider) guarded(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	if p.cfg.Breaker != BreakerOn || chainViewOf(ctx).another != nil {
		return p.converse(ctx, req, emit)
	}
	entry, err := p.Guard(ctx, req)
	if err != nil {
		return nil, err
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
	return resp, err
}
