package clichain

import (
	"context"
	"iter"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/failover"
)

// Backend answers requests. [Provider] and [Chain] are Backends, so chains can be nested. [BackendFunc] turns a
// function into a Backend, and you can implement a new type.
//
// # Errors of a custom Backend
//
// If the error wraps a [*BackendError], the chain uses its Reason. Otherwise the Reason is that of the Err value that
// the error wraps, as in fmt.Errorf("...: %w", ErrRateLimited). The error of a context becomes canceled or timeout,
// an error whose Timeout method returns true becomes timeout, and any other error becomes exit. The chain then asks
// its next backend. It stops if the Reason is bad_request, bad_option, bad_session or canceled, or if SideEffects is
// set. An unknown Reason does not stop the chain.
//
// # Answers of a custom Backend
//
// An answer without text fails with empty. An answer that does not match the Schema of the request fails with
// bad_output. With AccessWrite or AccessFull, such an answer stops the chain, because the agent may have made the
// changes. The chain fills in a missing Backend, Model or Duration, sets Metadata to that of the request, and treats
// a cost that is not a finite number as unknown. The chain works on a copy, so a Backend can return the same Response
// or error more than once.
//
// # Models
//
// The model "name" or "name/model" selects the backend of that name, which gets the request without its name in
// Model. The provider slug of a spec selects all instances of that spec in the same way.
//
// # Wrappers
//
// A Backend that wraps another one can have the method Unwrap() Backend. If the wrapped backend is a [Provider], the
// chain uses the model names, cooldowns, checks and settings of the Provider, and the stream of the wrapper. A type
// that embeds a Provider and has no method Unwrap is treated as an independent backend.
type Backend interface {
	// Name returns the name of the backend, such as "claude". The name never changes and must be unique in a chain.
	Name() string
	// Complete answers the request or returns an error. It must return soon after the context is canceled, leave no
	// process or goroutine running, and be safe for concurrent use.
	Complete(ctx context.Context, req Request) (*Response, error)
	// Stream yields the events of the call. The last event is an EventDone, or the stream ends with an error. A
	// stream can be read once. If the reader breaks out of the loop, Stream cancels the call. A chain calls only
	// Stream, never Complete.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// BackendFunc turns a function, such as a call of an API or a cache, into a Backend. The function must follow the
// rules of [Backend] and be safe for concurrent use. If the function is nil, every call fails with bad_option.
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
	return call.Once(validated(ctx, f.name, req, func(ctx context.Context, req Request) iter.Seq2[Event, error] {
		return call.Stream(ctx, func(ctx context.Context, _ func(Event)) (*Response, error) {
			if f.answer == nil {
				return nil, call.Errorf(ReasonBadOption, "backend", "the function of the backend is nil")
			}
			resp, err := f.answer(ctx, req)
			if resp == nil && err == nil {
				err = failover.NoAnswer(f.name)
			}
			return resp, err
		})
	}))
}

// validated asks a backend, and checks that its stream follows the rules of [Backend].
func validated(
	ctx context.Context, name string, req Request, stream func(context.Context, Request) iter.Seq2[Event, error],
) iter.Seq2[Event, error] {
	ofChain := func(err error) bool { return call.AsChainError(err) != nil }
	return contract.Backend{Name: name, Stream: stream, Settled: ofChain}.Ask(ctx, req)
}
