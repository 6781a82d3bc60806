package chaintest

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/judge"
)

// Backend is a Backend made from its answer, for tests of policy.
type Backend struct {
	ID    string
	Takes time.Duration
	Err   error

	Stubborn time.Duration // how long it ignores the end of its context
	Text     string        // text streamed before the answer or the error
	Said     string        // the answer; empty: "from" and the name
	Usage    clichain.Usage
	Asked    int
}

// Name returns ID.
func (b *Backend) Name() string { return b.ID }

// Complete counts the request, and returns Err or the answer after Takes.
func (b *Backend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	b.Asked++
	time.Sleep(b.Stubborn)
	select {
	case <-time.After(b.Takes):
	case <-ctx.Done():
		cause := context.Cause(ctx)
		return nil, &clichain.BackendError{Backend: b.ID, Reason: judge.ReasonOfCause(cause), Err: cause}
	}
	if b.Err != nil {
		return nil, b.Err
	}
	text := cmp.Or(b.Said, "from "+b.ID)
	return &clichain.Response{Text: text, Backend: b.ID, Usage: b.Usage, Metadata: req.Metadata}, nil
}

// Stream delivers Text before the result of Complete.
func (b *Backend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		if b.Text != "" && !yield(clichain.Event{Kind: clichain.EventDelta, Text: b.Text}, nil) {
			return
		}
		resp, err := b.Complete(ctx, req)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, nil)
	}
}

// Failing returns a Backend that fails for a reason.
func Failing(name string, reason clichain.Reason) *Backend {
	return &Backend{ID: name, Err: &clichain.BackendError{Backend: name, Reason: reason, Message: "it said so"}}
}

// ChainOf returns a chain with the default settings.
func ChainOf(backends ...*Backend) *clichain.Chain {
	list := make([]clichain.Backend, len(backends))
	for i, b := range backends {
		list[i] = b
	}
	return clichain.ChainOf(list, nil)
}

// Nest returns a chain of any backends, for use in another chain.
func Nest(backends ...clichain.Backend) *clichain.Chain { return clichain.ChainOf(backends, nil) }

// Instant is a backend that costs nothing.
type Instant struct {
	ID  string
	Err error
}

// Name returns ID.
func (b *Instant) Name() string { return b.ID }

// Complete returns Err, or an answer, without waiting.
func (b *Instant) Complete(context.Context, clichain.Request) (*clichain.Response, error) {
	if b.Err != nil {
		return nil, b.Err
	}
	return &clichain.Response{Text: "from " + b.ID, Backend: b.ID}, nil
}

// Stream delivers the result of Complete.
func (b *Instant) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		resp, err := b.Complete(ctx, req)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, nil)
	}
}

// Wrapper is a backend with an Unwrap method that returns its Provider.
type Wrapper struct{ *clichain.Provider }

// Unwrap returns the Provider.
func (w Wrapper) Unwrap() clichain.Backend { return w.Provider }
