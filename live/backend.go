package live

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/runs"
)

// backend is a backend of a pool. All that it does not say itself is said by the Provider
// in it.
type backend struct {
	*clichain.Provider
	pool *Pool
}

// Complete asks for one answer.
func (b *backend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(b.Stream(ctx, req))
}

// Stream asks a warm process if there can be one, and the CLI itself if not.
func (b *backend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		warm := b.process(ctx, req)
		if warm == nil {
			b.pool.count(false)
			b.Provider.Stream(ctx, req)(yield)
			return
		}
		var t turn
		goOn := true
		call.Stream(ctx, func(ctx context.Context, emit func(clichain.Event)) (*clichain.Response, error) {
			return t.run(ctx, b, warm, req, emit)
		})(func(e clichain.Event, err error) bool {
			if err != nil && t.cold {
				return true // the cold call says how it ends
			}
			goOn = yield(e, err)
			return goOn
		})
		if !t.cold || !goOn {
			b.pool.count(true)
			return
		}
		b.pool.count(false)
		failed := clichain.Event{Kind: clichain.EventReset, Backend: b.Name(), Message: "the warm process failed"}
		if t.delivered && !yield(failed, nil) {
			return
		}
		b.Provider.Stream(ctx, req)(yield)
	})
}

func (p *Pool) count(warm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if warm {
		p.stats.Warm++
	} else {
		p.stats.Cold++
	}
}

// process takes a process that can answer the request; nil: there is none.
func (b *backend) process(ctx context.Context, req clichain.Request) *process {
	if ofSession(req) || req.Access >= clichain.AccessWrite {
		return nil // what a tool leaves running would outlive the call
	}
	key, err := b.HoldKey(ctx, req)
	if err != nil {
		return nil // the cold call says why
	}
	spec := b.Spec()
	return b.pool.take(ctx, key, b.Name(), &spec.Live)
}

// turn is a call as a turn of a process.
type turn struct {
	delivered bool // some text
	cold      bool // it has to be asked again, by a cold call
}

// run asks the process, which it starts if it is a new one.
func (t *turn) run(
	ctx context.Context, b *backend, warm *process, req clichain.Request, emit func(clichain.Event),
) (*clichain.Response, error) {
	schema, failed := structured.Compile(req.Schema)
	if failed != nil {
		t.cold = true // which says so
		warm.forgo()
		return nil, failed
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(b.pool.life, func() { stop(ErrClosed) })()
	if warm.cli == nil {
		if err := warm.start(ctx, b, req); err != nil {
			if t.cold = ctx.Err() == nil; t.cold {
				b.pool.failed(warm.key)
			}
			return nil, err
		}
	}
	ctx, leave := b.Config().Registry.Enter(ctx, b.Name(), stop)
	defer leave()
	defer runs.Begin(ctx)()
	emit(clichain.Event{Kind: clichain.EventStart, Backend: b.Name()})
	resp, err := warm.cli.Ask(ctx, req, func(e clichain.Event) {
		t.delivered = t.delivered || e.Kind == clichain.EventDelta || e.Kind == clichain.EventText
		emit(e)
	})
	if err != nil {
		return nil, t.failed(ctx, b, warm, err)
	}
	whole := warm.alive() || !slices.Contains(resp.Flags, call.FlagTruncated)
	if warm.release(whole); !whole {
		b.pool.failed(warm.key)
		t.cold = true
		return nil, call.Errorf(clichain.ReasonBadOutput, "", "the process ended in the middle of its answer")
	}
	if schema != nil {
		text, problem := schema.Accept(resp.Text)
		if problem != "" {
			t.cold = true // which asks for a correction
			return nil, call.Errorf(clichain.ReasonBadOutput, "", "%s", problem)
		}
		resp.Text = text
	}
	return resp, nil
}

// failed decides whether a cold call takes over: where the process is to blame, or the
// failure may pass, and nothing was done that must not be done twice.
func (t *turn) failed(ctx context.Context, b *backend, warm *process, err *clichain.BackendError) error {
	died := !warm.alive()
	if died && ctx.Err() == nil {
		b.pool.failed(warm.key)
	}
	warm.release(false)
	switch err.Reason {
	case clichain.ReasonUnsupported, clichain.ReasonExit, clichain.ReasonKilled, clichain.ReasonSpawn,
		clichain.ReasonBadOutput, clichain.ReasonEmpty, clichain.ReasonOverloaded, clichain.ReasonServerError,
		clichain.ReasonNetwork, clichain.ReasonOutputLimit:
		t.cold = ctx.Err() == nil && !err.SideEffects && !errors.Is(err.Err, judge.ErrMovedOn)
	}
	return err
}
