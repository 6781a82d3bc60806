package hosttools

import (
	"context"
	"iter"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// With returns a backend whose model can call the tools. The backend must be or wrap a [clichain.Provider] or a
// [clichain.Chain]; for any other backend, calls fail as unsupported. Calls do not use warm processes.
func With(backend clichain.Backend, tools ...Tool) clichain.Backend {
	return &withTools{backend, slices.Clone(tools)}
}

type withTools struct {
	clichain.Backend
	tools []Tool
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
	if err := checkAll(b.tools); err != nil {
		return refused(clichain.ReasonBadOption, err.Error())
	}
	switch {
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
func (b *withTools) Complete(ctx context.Context, req clichain.Request) (resp *clichain.Response, err error) {
	ctx, s, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return b.Backend.Complete(ctx, req)
}

// Stream answers the request and yields the events.
func (b *withTools) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		ctx, s, err := b.open(ctx)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		defer s.close()
		for e, err := range b.Backend.Stream(ctx, req) {
			if s.panicked() || !yield(e, err) {
				return
			}
		}
	})
}

// open starts the server of one call.
func (b *withTools) open(ctx context.Context) (context.Context, *server, error) {
	if err := b.check(ctx); err != nil {
		return nil, nil, err
	}
	ctx, s, err := newServer(ctx, b.tools)
	if err != nil {
		return nil, nil, &clichain.BackendError{
			Backend: b.Name(), Reason: clichain.ReasonSpawn, ExitCode: -1, Stage: call.StageSkipped, Err: err,
			Message: "cannot start the server of the functions: " + err.Error(),
		}
	}
	return call.WithHostTools(ctx, s.offer()), s, nil
}
