package clichain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/semaphore"
	"github.com/clichain/clichain/internal/structured"
)

// retryDelay is the pause before the second try of the same backend.
const retryDelay = 500 * time.Millisecond

// answer runs the CLI, and once more after a failure that may have passed, or
// in a simpler mode when its stream broke off; and once more for an answer that
// does not meet the schema. All tries share the timeout. took is the time of them
// all, without the wait for a slot.
func (p *Provider) answer(
	ctx context.Context, req Request, emit func(Event),
) (resp *Response, took time.Duration, _ error) {
	schema, err := structured.Compile(req.Schema)
	if err != nil {
		return nil, 0, p.label(err)
	}
	began := time.Now()
	inv, err := p.prepare(ctx, req, mode{output: p.cfg.Output}, true)
	if err != nil {
		return nil, 0, err
	}
	prepared := time.Since(began) // the CLI's status command may have been asked
	release, err := p.slot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	t := tries{p: p, req: req, inv: inv, start: time.Now().Add(-prepared)}
	t.structure.schema = schema
	t.said = &reading.Said{KeepCommentary: p.cfg.KeepCommentary, Answer: p.spec.Answer}
	t.emit = func(e Event) { t.said.See(e); emit(e) }
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryDelay), backoff.WithMaxElapsedTime(0))
	once := backoff.WithContext(backoff.WithMaxRetries(pause, 1), ctx)
	if backoff.Retry(func() error { return t.next(ctx) }, once) == nil {
		for _, e := range t.said.Missing(t.resp.Text) {
			e.Backend = p.name
			t.emit(e)
		}
		t.resp.Attempts = t.earlier
		return t.resp, time.Since(t.start), nil
	}
	t.err.Earlier = t.earlier
	return nil, time.Since(t.start), t.err
}

// tries are the runs of one call.
type tries struct {
	p         *Provider
	req       Request
	inv       *plan
	emit      func(Event)
	said      *reading.Said
	start     time.Time
	structure structure

	resp     *Response
	err      *BackendError // of the last try
	brokeOff bool          // its stream did
	took     time.Duration // by it
	earlier  []Attempt
}

// next runs the CLI once, and again for a correction; a permanent error ends
// the tries.
func (t *tries) next(ctx context.Context) error {
	broke := t.err != nil && t.brokeOff
	if t.err != nil {
		t.record()
	}
	t.run(ctx)
	if t.repair(ctx) {
		t.record()
		t.emit(Event{Kind: EventReset, Backend: t.p.name, Message: "the answer did not meet the schema"})
		t.run(ctx)
	}
	switch {
	case t.err == nil && broke:
		t.resp.Flags = append(t.resp.Flags, call.FlagStreamFallback)
		return nil
	case t.err == nil:
		return nil
	case t.mayTryAgain(ctx):
		return t.err
	}
	return backoff.Permanent(t.err)
}

// record tells of a try that failed and is not the last.
func (t *tries) record() {
	failed := policy.AttemptOf(t.p.name, t.err, t.took)
	t.earlier = append(t.earlier, failed)
	t.emit(Event{Kind: EventAttempt, Backend: t.p.name, Attempt: &failed})
}

// run runs the CLI once.
func (t *tries) run(ctx context.Context) {
	began := time.Now()
	resp, v := t.p.try(ctx, t.inv, t.req, t.remaining(), t.emit)
	t.resp, t.err, t.brokeOff = resp, v.Err, v.BrokeOff
	t.structure.acted = t.structure.acted || v.Acted
	if t.err == nil {
		t.err = t.structure.hold(t.resp)
	}
	t.took = time.Since(began)
}

// mayTryAgain reports whether a second try may succeed: the failure passes by
// itself or was the stream's, nothing was changed, the id of its session is not
// taken now, and there is time for a try as long as the first.
func (t *tries) mayTryAgain(ctx context.Context) bool {
	if t.err.SideEffects || t.err.Partial != "" || errors.Is(t.err.Err, judge.ErrMovedOn) ||
		t.req.Options.SessionID != "" || !t.timeFor(2*retryDelay+t.took) {
		return false
	}
	return policy.Default[t.err.Reason].Again || t.brokeOff && t.simplify(ctx)
}

// simplify turns to the best mode that is read at the end of a run. With write
// access that mode must show the use of tools: a failure after tools that nobody
// saw ends the chain.
func (t *tries) simplify(ctx context.Context) bool {
	i := slices.IndexFunc(t.p.spec.Outputs, func(o clispec.OutputMode) bool {
		return o != clispec.OutputStream &&
			(t.req.Access < AccessWrite || t.p.spec.ToolEventsIn(o) != clispec.ToolsNever)
	})
	if i < 0 || t.p.cfg.Output != "" {
		return false
	}
	inv, err := t.p.prepare(ctx, t.req, mode{output: t.p.spec.Outputs[i], after: true}, true)
	if err != nil {
		return false
	}
	t.inv = inv
	return true
}

// timeFor reports whether more than that is left of the timeout.
func (t *tries) timeFor(d time.Duration) bool { return t.p.cfg.Timeout < 0 || t.remaining() > d }

// remaining is what is left of the timeout; 0 means that there is none.
func (t *tries) remaining() time.Duration {
	if t.p.cfg.Timeout < 0 {
		return 0
	}
	return max(t.p.cfg.Timeout-time.Since(t.start), time.Nanosecond)
}

// slot waits for the backend's own slot, then for a shared one. The time spent
// here counts for the context's deadline and Config.MaxQueue, not for the
// attempt's timeout.
func (p *Provider) slot(ctx context.Context) (release func(), failure *BackendError) {
	ctx, cancel := p.queue(ctx)
	defer cancel()
	own, err := p.own.Acquire(ctx)
	if err != nil {
		return nil, p.notStarted(judge.Ended(ctx, err), "no slot was free in time")
	}
	shared, err := semaphore.Semaphore(p.cfg.Slots).Acquire(ctx)
	if err != nil {
		own()
		return nil, p.notStarted(judge.Ended(ctx, err), "no slot was free in time")
	}
	return func() { shared(); own() }, nil
}

// queue bounds a wait by Config.MaxQueue.
func (p *Provider) queue(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.cfg.MaxQueue <= 0 {
		return ctx, func() {}
	}
	return judge.Within(ctx, p.cfg.MaxQueue)
}

// notStarted is the error of a call that ended while it waited to start.
func (p *Provider) notStarted(cause error, message string) *BackendError {
	reason := judge.ReasonOfCause(cause)
	if reason == ReasonTimeout {
		reason = ReasonBudgetSpent // the chain's clock: nothing was started
	}
	err := &BackendError{Reason: reason, Message: message, ExitCode: -1, Err: cause}
	return p.label(err)
}
