package live

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/runs"
)

// backend is a backend of a pool. It embeds the Provider for all methods that it does not define.
type backend struct {
	*clichain.Provider
	pool *Pool
}

// Unwrap returns the Provider, so that a chain knows its models, its login and its cooldowns.
func (b *backend) Unwrap() clichain.Backend { return b.Provider }

// Complete asks for one answer.
func (b *backend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(b.Stream(ctx, req))
}

// Stream asks a warm process if possible, else it makes a cold call. Both share the timeout of one call.
func (b *backend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		t := turn{backend: b, req: req, began: time.Now()}
		if t.enter(ctx); t.waits == nil || t.waits.cold != nil {
			t.coldCall(ctx, yield)
			return
		}
		goOn := true
		bounded, cancel := t.within(ctx)
		defer cancel()
		call.Stream(bounded, t.run)(func(e clichain.Event, err error) bool {
			if err != nil && t.cold {
				return true // the cold call reports the result
			}
			goOn = yield(e, err)
			return goOn
		})
		if !t.cold || !goOn {
			t.over()
			return
		}
		failed := clichain.Event{Kind: clichain.EventReset, Backend: b.Name(), Message: "the warm process failed"}
		if t.delivered && !yield(failed, nil) {
			b.pool.count(false)
			return
		}
		t.coldCall(bounded, yield)
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

// ofSession reports whether a call of a backend continues a session, or names the session to create.
func ofSession(backend string, req clichain.Request) bool {
	return session.Of(backend, req) != "" || req.Options.Continue || req.Options.SessionID != ""
}

// turn is a call that a warm process may answer.
type turn struct {
	*backend
	req       clichain.Request
	began     time.Time
	waits     *waiter // nil: no process can answer the call
	schema    *structured.Schema
	asked     bool // a process received the request
	delivered bool // the reader has received text
	cold      bool // a cold call must repeat it; its context has not ended
}

// enter queues the call if a process can answer it.
func (t *turn) enter(ctx context.Context) {
	if ofSession(t.Name(), t.req) || t.req.Access >= clichain.AccessWrite {
		return // a process started by a tool would outlive the call
	}
	key, err := t.HoldKey(ctx, t.req)
	if err != nil {
		return // the cold call reports the error
	}
	var failed *clichain.BackendError
	if t.schema, failed = structured.Compile(t.req.Schema); failed != nil {
		return // the cold call reports the error
	}
	t.waits = t.pool.enter(ctx, t.backend, key, t.req)
}

// within returns a context that ends at the timeout of the call, regardless of which process answers.
func (t *turn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := t.Config().Timeout
	if limit <= 0 {
		return ctx, func() {}
	}
	cause := &judge.Stop{Reason: clichain.ReasonTimeout, After: limit}
	return context.WithDeadlineCause(ctx, t.began.Add(limit), cause)
}

// over ends a call that does not go cold.
func (t *turn) over() {
	if t.waits.cold != nil { // the call ended just before its cold call
		t.pool.endCold(t.waits.cold, 0)
	}
	if t.asked {
		t.pool.count(true)
	}
}

// coldCall lets the CLI itself answer the call, and measures the time.
func (t *turn) coldCall(ctx context.Context, yield func(clichain.Event, error) bool) {
	t.pool.count(false)
	var began time.Time
	var took time.Duration
	if t.waits != nil {
		one := t.pool.beginCold(t.waits)
		defer func() { t.pool.endCold(one, took) }()
	}
	t.Provider.Stream(ctx, t.req)(func(e clichain.Event, err error) bool {
		switch e.Kind {
		case clichain.EventStart:
			began = time.Now()
		case clichain.EventDone:
			if !began.IsZero() {
				took = time.Since(began)
			}
		}
		return yield(e, err)
	})
}

// run waits for a process, and sends it the request.
func (t *turn) run(ctx context.Context, emit func(clichain.Event)) (*clichain.Response, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, leave := t.Config().Registry.Enter(ctx, t.Name(), stop)
	defer leave()
	defer func() { t.cold = t.cold && ctx.Err() == nil }()
	defer context.AfterFunc(t.pool.life, func() { stop(ErrClosed) })()
	warm := t.pool.wait(ctx, t.waits)
	if warm == nil {
		if t.pool.life.Err() != nil {
			stop(ErrClosed) // AfterFunc may not have run yet
		}
		t.cold = true
		return nil, t.notAsked(ctx)
	}
	defer runs.Begin(ctx)()
	t.asked = true
	emit(clichain.Event{Kind: clichain.EventStart, Backend: t.Name()})
	resp, err := warm.cli.Ask(ctx, t.req, func(e clichain.Event) {
		switch e.Kind {
		case clichain.EventDelta, clichain.EventText:
			t.delivered = true
		}
		emit(e)
	})
	if err != nil {
		return nil, t.failed(ctx, warm, err)
	}
	whole := warm.alive() || !slices.Contains(resp.Flags, call.FlagTruncated)
	if warm.release(whole); !whole {
		t.processDied(ctx, warm)
		failed := call.Errorf(clichain.ReasonBadOutput, "", "the process ended in the middle of its answer")
		failed.SideEffects = call.HostToolsOf(ctx).HaveActed()
		t.cold = !failed.SideEffects
		return nil, failed
	}
	if _, failed := t.schema.Hold(resp); failed != nil {
		misfits := chainview.MisfitsOf(ctx)
		misfits.Add()
		failed.SideEffects = call.HostToolsOf(ctx).HaveActed()
		t.cold = !misfits.Spent() && !failed.SideEffects // the cold call asks for a correction
		return nil, failed
	}
	return resp, nil
}

// notAsked returns the error of a call that ended while it waited for a process.
func (t *turn) notAsked(ctx context.Context) error {
	cause := judge.End(ctx)
	err := &clichain.BackendError{
		Backend: t.Name(), Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause, Stage: call.StageSkipped,
	}
	if err.Reason == clichain.ReasonTimeout { // nothing was started
		err.Reason, err.Message = clichain.ReasonBudgetSpent, "no process was free in time"
	}
	return err
}

// processDied records that a process ended on its own.
func (t *turn) processDied(ctx context.Context, warm *process) {
	if ctx.Err() == nil {
		t.pool.failed(warm.key)
	}
}

// failed decides whether a cold call follows. It does if the process may be at fault, or if the failure may be
// transient, unless the agent may have had side effects.
func (t *turn) failed(ctx context.Context, warm *process, err *clichain.BackendError) error {
	if !warm.alive() {
		t.processDied(ctx, warm)
	}
	warm.release(false)
	t.cold = mayGoCold(err)
	return err
}

// mayGoCold reports whether a cold call may succeed after the turn failed.
func mayGoCold(err *clichain.BackendError) bool {
	switch err.Reason {
	case clichain.ReasonUnsupported, clichain.ReasonExit, clichain.ReasonKilled, clichain.ReasonSpawn,
		clichain.ReasonBadOutput, clichain.ReasonEmpty, clichain.ReasonOverloaded, clichain.ReasonServerError,
		clichain.ReasonNetwork, clichain.ReasonOutputLimit:
		return !err.SideEffects && !errors.Is(err.Err, judge.ErrMovedOn)
	}
	return false
}
