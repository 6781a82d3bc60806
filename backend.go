package clichain

import (
	"context"
	"iter"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/failover"
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
//
// A Backend that wraps another one may have the method Unwrap() Backend. Where it leads to a [Provider], a chain uses
// the model names, the cooldowns, the checks and the settings of that Provider, and the stream of the wrapper. A type
// that embeds a Provider and has no Unwrap is a backend of its own.
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
				err = failover.NoAnswer(f.name)
			}
			return resp, err
		})
	}))
}

// hold asks a backend, and makes its stream keep the contract.
func hold(
	ctx context.Context, name string, req Request, stream func(context.Context, Request) iter.Seq2[Event, error],
) iter.Seq2[Event, error] {
	ofChain := func(err error) bool { return call.AsChainError(err) != nil }
	return contract.Backend{Name: name, Stream: stream, Settled: ofChain}.Ask(ctx, req)
}
