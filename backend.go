package clichain

import (
	"context"
	"iter"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/contract"
)

// Backend answers requests. [Provider] and [Chain] are Backends, so chains
// nest; [BackendFunc] makes one of a function, and any type of yours can be one.
//
// # What a chain makes of a Backend of your own
//
// An error: one that holds a [*BackendError] has its Reason. Else the Reason is
// that of the Err value that it wraps, as in fmt.Errorf("...: %w",
// ErrRateLimited); canceled or timeout for the error of a context that has
// ended; timeout for any other error that says so; and exit for the rest. The
// chain goes on to its next backend unless the Reason says that no other could
// do better (bad_request, bad_option, bad_session, canceled), or SideEffects is
// set. An unknown Reason goes on.
//
// An answer: without text it is empty, and where the request has a Schema that
// it does not meet, bad_output; with AccessWrite and more such an answer ends the
// chain, because what was asked for may have been done. Backend, Model and
// Duration are filled in where they are missing, Metadata is the request's, and
// a cost that is no number is unknown. The chain works on a copy: a Response, an
// error and all that they hold may be shared and returned again.
//
// The model "name" or "name/model" addresses the backend of that name; it gets
// the request without that name in it. The slug of a spec does so too, for all of
// its instances.
type Backend interface {
	// Name is the backend's name, such as "claude". It never changes, and is the
	// only one of its kind in a chain.
	Name() string
	// Complete answers the request, or says why not. It returns soon after the
	// context has ended, and leaves nothing behind. It must be safe for
	// concurrent use.
	Complete(ctx context.Context, req Request) (*Response, error)
	// Stream answers in events, the last of which is an EventDone. An error is
	// terminal. A stream can be read once; leaving it early stops the call. A
	// chain uses Stream alone.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// BackendFunc makes a Backend of a function, for an API, a cache or a test. The
// function may return what a [Backend] may, and must be safe for concurrent use.
func BackendFunc(name string, answer func(ctx context.Context, req Request) (*Response, error)) Backend {
	return &function{name, answer}
}

type function struct {
	name   string
	answer func(ctx context.Context, req Request) (*Response, error)
}

func (f *function) Name() string { return f.name }

func (f *function) Complete(ctx context.Context, req Request) (*Response, error) {
	return call.Collect(f.Stream(ctx, req))
}

func (f *function) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return call.Once(hold(ctx, f.name, req, func(ctx context.Context, req Request) iter.Seq2[Event, error] {
		return call.Stream(ctx, func(ctx context.Context, _ func(Event)) (*Response, error) {
			if f.answer == nil {
				return nil, call.Errorf(ReasonBadOption, "backend", "its function is nil")
			}
			resp, err := f.answer(ctx, req)
			if resp == nil && err == nil {
				err = noAnswer(f)
			}
			return resp, err
		})
	}))
}

// streamOf asks a backend of any kind. Those of this package keep the contract
// by themselves.
func streamOf(ctx context.Context, b Backend, req Request) iter.Seq2[Event, error] {
	switch b.(type) {
	case *Chain:
		return b.Stream(ctx, req)
	case *Provider, *function:
		return b.Stream(withoutHooks(ctx), req)
	}
	return hold(withoutHooks(ctx), b.Name(), req, b.Stream)
}

// keepsQuiet reports whether nothing but a chain hears the events of the backend:
// one of another kind may ask a Provider in the same context, and read all that it
// says.
func keepsQuiet(b Backend) bool {
	switch b.(type) {
	case *Chain, *Provider:
		return true
	}
	return false
}

func hold(
	ctx context.Context, name string, req Request, stream func(context.Context, Request) iter.Seq2[Event, error],
) iter.Seq2[Event, error] {
	ofChain := func(err error) bool { return chainIn(err) != nil }
	return contract.Backend{Name: name, Stream: stream, Settled: ofChain}.Ask(ctx, req)
}

// claims reports whether a model name addresses a backend. The empty one addresses none.
func claims(b Backend, model string) bool {
	if model == "" {
		return false
	}
	if b, ok := b.(*Chain); ok && b.claimant(model) != nil {
		return true
	}
	if p := providerOf(b); p != nil && p.spec != nil && p.composer.Models.Claims(model) {
		return true
	}
	return contract.Addresses(b.Name(), model)
}
