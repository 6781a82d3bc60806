package otel

import (
	"context"
	"iter"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// Backend returns a backend that asks b and makes a span and the metrics of each
// call. Wrap the outermost chain, whose ChainConfig.Hooks are those of
// [Telemetry.Hooks]; any other backend counts as one attempt. The context that b
// gets has the span of the call in it, and names it to the CLIs that can go on
// with it.
//
// Stream of a wrapped backend that a wrapped chain asks adds nothing, because that
// chain hears of all its events. Complete does, so it is what a function that
// hides another chain asks: that call has a span of its own, inside the first.
func (t *Telemetry) Backend(b clichain.Backend) clichain.Backend {
	return &backend{b, t, providersOf(b)}
}

// backend watches the calls of another one.
type backend struct {
	asked     clichain.Backend
	t         *Telemetry
	providers map[string]string // by the names of the backends inside
}

// Name is that of the backend inside.
func (b *backend) Name() string { return b.asked.Name() }

// Ready is that of a chain inside; nil, so always ready, for any other backend.
func (b *backend) Ready(ctx context.Context) error {
	if inside, ok := b.asked.(interface{ Ready(context.Context) error }); ok {
		return inside.Ready(ctx)
	}
	return nil
}

// Complete asks the backend inside, and ends the span when it returns.
func (b *backend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	o := outcome{reason: errorOther} // of a panic
	c := b.begin(ctx, req)
	defer func() { c.end(o) }()
	resp, err := b.asked.Complete(c.ctx, req)
	o = outcomeOf(b.Name(), resp, err)
	return resp, err
}

// Stream asks the backend inside as the reader reads, and ends the span when the
// stream has ended or the reader has left.
func (b *backend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		if b.t.callIn(ctx).goesOn() {
			b.asked.Stream(b.t.within(ctx, nil), req)(yield)
			return
		}
		o := outcome{reason: errorOther} // of a panic
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
