// Package failover tries the backends of a chain in turn until one answers. It manages the attempts of a call,
// its budget, and the early start of the next backend. It knows no specific kind of backend.
package failover

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/order"
)

// Chain contains the settings and state that all calls of a chain share.
type Chain struct {
	Candidates []Candidate
	Order      order.Strategy // nil: the order of Candidates
	MinAttempt time.Duration
	MaxCostUSD float64 // 0: no limit
	// ReplayAlways and ReplayNever control whether a request with write access may run on another backend after
	// one backend has begun. If neither is set, it may if certainly no tool was used.
	ReplayAlways, ReplayNever bool
	Table                     policy.Table
	Cooldowns                 *cooling.Keeper
	Stats                     *Stats
	// Accept returns an error to refuse an answer. Nil: every answer is accepted.
	Accept func(ctx context.Context, req call.Request, resp *call.Response) error
	// Validate begins to validate the backends, and returns a func that waits for the result.
	Validate func() (wait func())
}

// Loop is one call of a chain. Its methods belong to one goroutine, except hasFallback.
type Loop struct {
	*Chain
	Caller         context.Context // of the call, with its hooks
	Req            call.Request
	Owner          Candidate                    // the first candidate that the model addresses; nil: none
	Emit           func(call.Event) (more bool) // false: the reader has stopped
	Outer          chainview.View               // the view of an outer chain
	CanReset       bool                         // delivered text can be taken back
	MilestonesOnly bool                         // other events are not read

	ctx       context.Context // also ends with the budget
	budget    budget
	share     *cooling.Share // of the time, for the cooldown store
	order     []*contender
	successor *successor // is already running

	attempts   []call.Attempt
	started    bool   // a process or a backend was started
	note       string // why no other backend is tried
	delivered  bool   // the reader has received text
	stale      bool   // that text is from a backend that failed
	readerLeft bool
}

// Run tries the candidates within the budget; a limit of zero or less means no limit of the chain itself. If
// there is no answer, it returns an error, which has no meaning if the reader has stopped.
func (l *Loop) Run(limit time.Duration) (*call.Response, *call.ChainError) {
	now := time.Now()
	l.ctx = l.Caller
	if l.budget = newBudget(l.Caller, now, limit, l.MinAttempt); !l.budget.end.IsZero() {
		cause := &judge.Stop{Reason: call.ReasonTimeout, After: l.budget.end.Sub(now)}
		ctx, cancel := context.WithDeadlineCause(l.Caller, l.budget.end, cause)
		defer cancel()
		l.ctx = ctx
	}
	l.ctx, l.share = l.Cooldowns.Share(l.ctx, max(l.budget.end.Sub(now), 0))
	l.sort()
	defer l.abandonSuccessors()
	for i := range l.order {
		resp, next := l.ask(i)
		if resp != nil {
			session.MarkHandover(resp, l.Req)
			return resp, nil
		}
		if !next {
			break
		}
	}
	return nil, l.failure()
}

// ReaderLeft reports whether the reader of the events has stopped.
func (l *Loop) ReaderLeft() bool { return l.readerLeft }

// StoreProblem describes the problem of the cooldown store, or returns "".
func (l *Loop) StoreProblem() string { return l.share.Problem() }

// sort puts the candidates in the order of the strategy, after the one with the first thread of the request.
func (l *Loop) sort() {
	all := make([]contender, len(l.Candidates))
	l.order = make([]*contender, len(all))
	for i, c := range l.Candidates {
		all[i].Candidate, all[i].place = c, i
		l.order[i] = &all[i]
	}
	if l.Order != nil {
		places := l.Stats.order(l.Order, l.Req, func(place int) []call.QuotaWindow {
			return l.Cooldowns.Windows(l.ctx, all[place].call(l.Req))
		})
		l.order = l.order[:0]
		for _, place := range places {
			l.order = append(l.order, &all[place])
		}
	}
	resumed := l.resumed()
	if i := slices.IndexFunc(l.order, func(c *contender) bool { return c.place == resumed }); i >= 0 {
		l.order = slices.Insert(slices.Delete(l.order, i, i+1), 0, &all[resumed])
	}
}

// resumed returns the index of the candidate with the first thread of the request, or -1.
func (l *Loop) resumed() int {
	if len(l.Req.Threads) == 0 {
		return -1
	}
	backend := l.Req.Threads[0].Backend
	if i := slices.IndexFunc(l.Candidates, func(c Candidate) bool { return c.Name() == backend }); i >= 0 {
		return i
	}
	return slices.IndexFunc(l.Candidates, func(c Candidate) bool { return c.Claims(backend) }) // a nested chain
}

// ask tries one candidate. next reports whether another candidate may be tried.
func (l *Loop) ask(i int) (resp *call.Response, next bool) {
	c := l.order[i]
	a := attempt{candidate: c, start: time.Now()}
	early := l.successor.at(i)
	if early != nil {
		a.entry = early.entry
	} else if entry, skip := l.enter(c); skip != nil {
		l.fail(policy.AttemptOf(c.Name(), skip, 0))
		return nil, !l.readerLeft
	} else {
		a.entry = entry
	}
	settled := false
	defer l.Validate()()
	defer func() {
		if !settled { // the reader has stopped, or the backend panicked
			a.entry.Left(l.ctx)
		}
	}()
	if early != nil {
		a = early.join(l)
	} else if refused := l.probe(i, &a); refused != nil {
		settled, l.started = true, true
		l.fail(policy.AttemptOf(c.Name(), refused, time.Since(a.start)))
		return nil, !l.readerLeft
	} else if !l.readerLeft {
		l.successor = l.read(l.Caller, i, &a, l.forward)
	}
	if l.readerLeft {
		return nil, false
	}
	settled = true
	if next = l.settle(a); !next {
		l.dropSuccessors()
	}
	if a.err == nil {
		a.resp.Attempts = slices.Concat(l.attempts, a.entry.Probed(), a.resp.Attempts)
	}
	return a.resp, next
}

// settle records the outcome of an attempt. It reports whether another candidate may be tried.
func (l *Loop) settle(a attempt) (next bool) {
	l.observe(&a, a.windows())
	if a.err == nil {
		a.entry.Answered(l.ctx)
		l.Stats.answered(a.candidate.place, a.resp)
		l.reportNoTool(a)
		return false
	}
	attempts := a.failures()
	l.record(a, attempts[len(attempts)-1].Reason)
	l.stale = l.delivered
	l.started = l.started || slices.ContainsFunc(attempts, func(a call.Attempt) bool { return !a.Skipped })
	l.fail(attempts...)
	return !l.readerLeft && l.mayGoOn(a.err)
}

// record updates the cooldown and the statistics of a candidate after a failure. A candidate whose answer a check
// refused has answered.
func (l *Loop) record(a attempt, reason call.Reason) {
	failed := call.AsError("", a.err)
	if call.AsChainError(a.err) != nil {
		failed = &call.Error{} // the backends of a nested chain have their own cooldowns
	}
	switch {
	case a.refused != nil:
		a.entry.Answered(l.ctx)
		l.Stats.answered(a.candidate.place, a.refused)
	case failed.Reason == call.ReasonRejected:
		a.entry.Answered(l.ctx)
	default:
		a.entry.Failed(l.ctx, failed, a.cutShort)
		l.Stats.failed(a.candidate.place, reason, time.Now())
	}
}

// reportNoTool reports to an outer chain that no tool was used in this call.
func (l *Loop) reportNoTool(a attempt) {
	acted := func(a call.Attempt) bool { return sideEffects(a.Err) }
	if l.Outer.NoTool != nil && a.noTool && !slices.ContainsFunc(l.attempts, acted) {
		l.Outer.NoTool()
	}
}

// fail records failed attempts. The reader has already received an event for each of them, except the last one.
func (l *Loop) fail(attempts ...call.Attempt) {
	l.attempts = append(l.attempts, attempts...)
	last := attempts[len(attempts)-1]
	l.emit(call.Event{Kind: call.EventAttempt, Backend: last.Backend, Attempt: &last})
}

func (l *Loop) emit(e call.Event) {
	if !l.readerLeft {
		l.readerLeft = !l.Emit(e)
	}
}

// forward delivers an event. Before the first output of a later backend, it resets the text of the failed one.
// It returns false if the reader has stopped.
func (l *Loop) forward(e call.Event) bool {
	if l.stale && e.Kind != call.EventAttempt && e.Kind != call.EventStart { // a backend that only starts may be skipped
		l.delivered, l.stale = false, false
		l.emit(call.Event{Kind: call.EventReset, Backend: e.Backend, Message: "the previous backend failed"})
	}
	switch e.Kind {
	case call.EventDelta, call.EventText:
		l.delivered = true
	case call.EventReset:
		l.delivered = false
	}
	l.emit(e)
	return !l.readerLeft
}

// read reads the stream of one candidate until forward returns false. It returns the successor that was started
// in the meantime.
func (l *Loop) read(caller context.Context, i int, a *attempt, forward func(call.Event) bool) *successor {
	view, ctx, cancel := l.slice(caller, i)
	defer cancel()
	next := &handover{loop: l, from: i}
	view.HasFallback, view.OnHandover = func() bool { return l.hasFallback(i) }, next.start
	view.CanReset, view.MilestonesOnly = l.CanReset, l.MilestonesOnly && !a.candidate.Observed()
	if !a.candidate.Observed() { // code other than the chain could do more than its backends report
		view.NoTool = func() { a.noTool = true }
	}
	a.err = NoAnswer(a.candidate.Name())
	for e, err := range a.candidate.Stream(chainview.With(ctx, view), l.Req) {
		if err != nil {
			a.err, a.cutShort = err, l.cutShort(ctx, view, a.start)
			break
		}
		if e.Kind == call.EventDone {
			a.resp, a.err = e.Response, nil
			break
		}
		l.see(a, e)
		if !forward(e) {
			break
		}
	}
	l.accept(ctx, view, a)
	return next.end()
}

// failure returns the error of a call without an answer.
func (l *Loop) failure() *call.ChainError {
	err := &call.ChainError{Attempts: l.attempts, Cause: allWaiting(l.attempts), Note: l.note}
	if l.ctx.Err() != nil && !l.spent() {
		cause := judge.End(l.ctx)
		err.Cause = &call.Error{Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause}
	}
	return err
}
