package otel

import (
	"context"
	"iter"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// Backend returns a backend that calls b and records a span and metrics for each call. Wrap the outermost chain, and
// set its ChainConfig.Hooks to [Telemetry.Hooks]; any other backend counts as a single attempt. The context for b
// contains the span of the call, and passes it to CLIs that support trace context.
//
// If a wrapped chain calls Stream of a wrapped backend, the inner wrapper records nothing, because the outer chain
// receives all events. Complete records another span inside the first one. Use it in a function that hides another
// chain.
func (t *Telemetry) Backend(b clichain.Backend) clichain.Backend {
	return &backend{b, t, providersOf(b)}
}

// backend observes the calls of another backend.
type backend struct {
	asked     clichain.Backend
	t         *Telemetry
	providers map[string]string // by the names of the inner backends
}

// Name returns the name of the wrapped backend.
func (b *backend) Name() string { return b.asked.Name() }

// Ready returns the result of a wrapped chain. For other backends it returns nil, which means ready.
func (b *backend) Ready(ctx context.Context) error {
	if inside, ok := b.asked.(interface{ Ready(context.Context) error }); ok {
		return inside.Ready(ctx)
	}
	return nil
}

// Complete calls the wrapped backend, and ends the span when it returns.
func (b *backend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	o := outcome{reason: errorOther} // recorded after a panic
	c := b.begin(ctx, req)
	defer func() { c.end(o) }()
	resp, err := b.asked.Complete(c.ctx, req)
	o = outcomeOf(b.Name(), resp, err)
	return resp, err
}

// Stream streams from the wrapped backend, and ends the span when the stream ends or the reader stops.
func (b *backend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		if b.t.callIn(ctx).goesOn() {
			b.asked.Stream(b.t.within(ctx, nil), req)(yield)
			return
		}
		o := outcome{reason: errorOther} // recorded after a panic
		c := b.begin(ctx, req)
		defer func() { c.end(o) }()
		told := false
		for e, err := range b.asked.Stream(c.ctx, req) {
			if told = err != nil || e.Kind == clichain.EventDone; told {
				o = outcomeOf(b.Name(), e.Response, err)
			} else {
				c.hears(e)
			}
			if !yield(e, err) {
				if !told {
					o = outcome{reason: string(clichain.ReasonCanceled)}
				}
				return
			}
		}
		if !told {
			o = outcome{reason: string(clichain.ReasonBadOutput)}
		}
	})
}
