package provider

import (
	"context"
	"iter"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
)

// Complete runs the CLI for one answer. The error is a [*call.Error].
func (p *Provider) Complete(ctx context.Context, req call.Request) (*call.Response, error) {
	o := chainview.Of(ctx)
	o.MilestonesOnly = true
	return call.Collect(p.Stream(chainview.With(ctx, o), req))
}

// milestones passes on only the events by which a chain knows the attempts, because each event costs a switch between
// goroutines.
func milestones(emit func(call.Event)) func(call.Event) {
	return func(e call.Event) {
		if e.Kind == call.EventStart || e.Kind == call.EventAttempt {
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
			defer leave() // not later: the reader may wait for it
			if chainview.Of(ctx).MilestonesOnly {
				emit = milestones(emit)
			}
			return p.guarded(ctx, req, emit)
		})(yield)
	})
}
