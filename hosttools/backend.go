package hosttools

import (
	"context"
	"errors"
	"iter"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// With returns a backend whose model can call the tools. The backend must be or wrap a [clichain.Provider] or a
// [clichain.Chain]; for any other backend, calls fail as unsupported. With a backend of a live.Pool, calls whose tools
// have the same names, descriptions and inputs share the warm processes.
func With(backend clichain.Backend, tools ...Tool) clichain.Backend {
	return &withTools{backend, Set(tools...).(set)}
}

type withTools struct {
	clichain.Backend
	set set
}

// Unwrap returns the backend without the tools.
func (b *withTools) Unwrap() clichain.Backend { return b.Backend }

// Available returns nil, or the error with which any request would be skipped.
func (b *withTools) Available(ctx context.Context) error {
	if err := b.check(ctx); err != nil {
		return err
	}
	if inner, ok := b.Backend.(interface{ Available(context.Context) error }); ok {
		return inner.Available(ctx)
	}
	return nil
}

func (b *withTools) check(ctx context.Context) *clichain.BackendError {
	refused := func(reason clichain.Reason, message string) *clichain.BackendError {
		return &clichain.BackendError{
			Backend: b.Name(), Reason: reason, Option: "tools", Message: message, ExitCode: -1, Stage: call.StageSkipped,
		}
	}
	switch {
	case b.set.err != nil:
		return refused(clichain.ReasonBadOption, b.set.err.Error())
	case call.HostToolsOf(ctx) != nil:
		return refused(clichain.ReasonBadOption, "the call already has functions: pass all of them to one With")
	case !runsCLIs(b.Backend):
		return refused(clichain.ReasonUnsupported, "this backend cannot offer functions of the caller to a model")
	}
	return nil
}

// runsCLIs reports whether a backend is or wraps a Provider or a Chain.
func runsCLIs(b clichain.Backend) bool {
	for {
		switch b.(type) {
		case *clichain.Provider, *clichain.Chain:
			return true
		}
		wrapper, ok := b.(interface{ Unwrap() clichain.Backend })
		if !ok {
			return false
		}
		b = wrapper.Unwrap()
	}
}

// Complete answers the request.
func (b *withTools) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	ctx, end, err := b.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return b.Backend.Complete(ctx, req)
}

// Stream answers the request and yields the events.
func (b *withTools) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		ctx, end, err := b.begin(ctx)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		defer end()
		for e, err := range b.Backend.Stream(ctx, req) {
			if panicked(ctx) || !yield(e, err) {
				return
			}
		}
	})
}

// begin begins a call. end repeats the panic of a function.
func (b *withTools) begin(ctx context.Context) (_ context.Context, end func(), _ error) {
	if err := b.check(ctx); err != nil {
		return nil, nil, err
	}
	ctx, over, err := b.set.Begin(ctx)
	return ctx, func() {
		if problem, ok := errors.AsType[*PanicError](over()); ok {
			panic(problem.Value)
		}
	}, err
}

// panicked reports whether a function of the call of ctx has panicked.
func panicked(ctx context.Context) bool {
	_, ok := errors.AsType[*PanicError](context.Cause(ctx))
	return ok
}
