package clichain

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/judge"
)

// walk is one call of a chain. It belongs to one goroutine, apart from another.
type walk struct {
	caller   context.Context // of the call, with its hooks
	ctx      context.Context // which the chain's budget ends too
	req      Request
	yield    func(Event, error) bool
	above    chainview.View // of the chain this one is part of
	resets   bool           // text can be taken back
	quiet    bool           // nobody hears of events but those of milestones
	budget   budget
	cooldown *cooling.Keeper
	share    *cooling.Share // of the time, for the store of the cooldowns
	table    map[Reason]row
	record   *record
	owner    Backend // the first of those that the model addresses; nil: it addresses none
	backends []Backend
	places   []int // of the backends in the record; nil: as they stand here
	cfg      *ChainConfig
	examine  func() (wait func()) // the backends' specs, while a CLI runs
	ahead    *successor           // that runs already

	attempts []Attempt
	begun    bool   // something was started
	note     string // why no other backend is asked
	text     bool   // the reader has text
	void     bool   // of a backend that failed
	left     bool   // the reader is gone
}

// visit asks one backend; goOn is false when the chain must end.
func (w *walk) visit(i int) (resp *Response, goOn bool) {
	b := w.backends[i]
	t := try{place: w.place(i), backend: b, start: time.Now()}
	ahead := w.ahead.takes(i)
	if ahead != nil {
		t.entry = ahead.entry
	} else if entry, skip := w.enter(b); skip != nil {
		w.failed(attemptOf(b.Name(), skip, 0))
		return nil, !w.left
	} else {
		t.entry = entry
	}
	over := false
	defer w.examine()()
	defer func() {
		if !over { // the reader has left, or something panicked
			t.entry.Left(w.ctx)
		}
	}()
	if ahead != nil {
		t = ahead.join(w)
	} else if refused := w.probe(i, &t); refused != nil {
		over, w.begun = true, true
		w.failed(attemptOf(b.Name(), refused, time.Since(t.start)))
		return nil, !w.left
	} else {
		w.ahead = w.ask(w.caller, i, &t, w.pass)
	}
	if w.left {
		return nil, false
	}
	over = true
	if goOn = w.settle(t); !goOn {
		w.dropAhead()
	}
	if t.err == nil {
		t.resp.Attempts = slices.Concat(w.attempts, t.entry.Probed(), t.resp.Attempts)
	}
	return t.resp, goOn
}

// settle keeps the outcome of a backend. It reports whether another backend may be asked.
func (w *walk) settle(t try) (goOn bool) {
	if t.err == nil {
		t.entry.Answered(w.ctx)
		w.record.answered(t.place, t.resp)
		return false
	}
	t.entry.Failed(w.ctx, cooldownFailure(t.err), t.hurried)
	attempts := t.attempts()
	w.void = w.text
	w.begun = w.begun || slices.ContainsFunc(attempts, func(a Attempt) bool { return !a.Skipped })
	w.failed(attempts...)
	w.record.failed(t.place, attempts[len(attempts)-1].Reason, time.Now())
	return !w.left && w.mayGoOn(t.err)
}

// inOrder turns to other backends, given by their places in the record.
func (w *walk) inOrder(places []int) {
	all := w.backends
	w.places, w.backends = places, make([]Backend, len(places))
	for i, place := range places {
		w.backends[i] = all[place]
	}
}

func (w *walk) place(i int) int {
	if w.places == nil {
		return i
	}
	return w.places[i]
}

// failed records what came of a backend. Its earlier tries have been told.
func (w *walk) failed(attempts ...Attempt) {
	w.attempts = append(w.attempts, attempts...)
	last := attempts[len(attempts)-1]
	w.emit(Event{Kind: EventAttempt, Backend: last.Backend, Attempt: &last})
}

func (w *walk) emit(e Event) {
	if !w.left {
		w.left = !w.yield(e, nil)
	}
}

// enter begins a call of a backend, or passes it over.
func (w *walk) enter(b Backend) (*cooling.Entry, *BackendError) {
	if err := w.skip(b, !w.begun); err != nil {
		return nil, err
	}
	return w.cooldown.Enter(w.ctx, cooldownCall{b, w.req})
}

// skip passes a backend over without asking it. first: nothing was started yet.
func (w *walk) skip(b Backend, first bool) *BackendError {
	var err *BackendError
	now := time.Now()
	switch {
	case w.spent() || w.budget.over(now):
		err = call.Errorf(ReasonBudgetSpent, "", "the chain's budget was over before its turn")
	case w.budget.lacks(now, first):
		err = call.Errorf(ReasonBudgetSpent, "", "%v of the chain's budget were left, too little for an attempt, "+
			"which needs %v", w.budget.end.Sub(now).Round(time.Millisecond), w.budget.minimum.Round(time.Millisecond))
	case w.cfg.MaxCostUSD > 0 && w.cost() >= w.cfg.MaxCostUSD:
		err = call.Errorf(ReasonBudgetSpent, "", "the attempts before it cost %.4f USD, of %.4f", w.cost(), w.cfg.MaxCostUSD)
	default:
		return foreign(b, w.req, w.owner)
	}
	err.Backend = b.Name()
	return err
}

// foreign passes a backend over where the model addresses another one.
func foreign(b Backend, req Request, owner Backend) *BackendError {
	if owner == nil || claims(b, req.Model) {
		return nil
	}
	err := call.Errorf(ReasonModelMismatch, "model", "%q belongs to %s", req.Model, owner.Name())
	err.Backend = b.Name()
	return err
}

// ask reads one backend's stream, and hands its events to pass, which returns false to leave. It returns the backend
// that was started meanwhile.
func (w *walk) ask(caller context.Context, i int, t *try, pass func(Event) bool) *successor {
	view, ctx, cancel := w.slice(caller, i)
	defer cancel()
	view.HasFallback, view.CanReset = func() bool { return w.another(i) }, w.resets
	view.MilestonesOnly = w.quiet && keepsQuiet(t.backend)
	next := &handover{walk: w, from: i}
	view.OnHandover = next.start
	ctx = chainview.With(ctx, view)
	t.err = noAnswer(t.backend)
	for e, err := range streamOf(ctx, t.backend, w.req) {
		if err != nil {
			t.err, t.hurried = err, w.hurried(ctx, view, t)
			break
		}
		if e.Kind == EventDone {
			t.resp, t.err = e.Response, nil
			break
		}
		t.heard(e)
		if !pass(e) {
			break
		}
	}
	return next.end()
}

// noAnswer is the error of a backend whose stream says nothing at its end.
func noAnswer(b Backend) *BackendError {
	return &BackendError{Backend: b.Name(), Reason: ReasonBadOutput, Message: "the stream ended without an answer"}
}

// pass hands an event on, after taking back what an earlier backend said. It returns false when the reader has left.
func (w *walk) pass(e Event) bool {
	if w.void && e.Kind != EventAttempt && e.Kind != EventStart { // one that only begins may be a skip
		w.text, w.void = false, false
		w.emit(Event{Kind: EventReset, Backend: e.Backend, Message: "the backend before failed"})
	}
	switch e.Kind {
	case EventDelta, EventText:
		w.text = true
	case EventReset:
		w.text = false
	}
	w.emit(e)
	return !w.left
}

// another reports whether a backend after the one at i could answer. It is
// called from that one's goroutines while the walk waits for it.
func (w *walk) another(i int) bool {
	return slices.ContainsFunc(w.backends[i+1:], w.could) || w.above.HasFallback != nil && w.above.HasFallback()
}

// could reports whether a backend may answer later in this call.
func (w *walk) could(b Backend) bool {
	return w.skip(b, false) == nil && w.cooldown.Skip(w.ctx, cooldownCall{b, w.req}) == nil && mayAnswer(w.ctx, b, w.req)
}

// mayAnswer reports whether a backend would take the request, as far as that
// can be told without asking it.
func mayAnswer(ctx context.Context, b Backend, req Request) bool {
	if p := providerOf(b); p != nil {
		_, err := p.prepare(ctx, req, mode{output: p.cfg.Output}, false)
		return err == nil
	}
	if c, ok := b.(*Chain); ok {
		return slices.ContainsFunc(c.backends, func(inner Backend) bool {
			return c.cooldown.Skip(ctx, cooldownCall{inner, req}) == nil && mayAnswer(ctx, inner, req)
		})
	}
	if b, ok := b.(interface{ Available(context.Context) error }); ok {
		return b.Available(ctx) == nil
	}
	return true
}

// cost is what the attempts so far are known to have cost.
func (w *walk) cost() (usd float64) {
	for _, a := range w.attempts {
		if a.Usage.CostUSD != nil {
			usd += *a.Usage.CostUSD
		}
	}
	return usd
}

// failure is the error of a chain that gave no answer.
func (w *walk) failure() *ChainError {
	err := &ChainError{Attempts: w.attempts, Cause: allCoolingDown(w.attempts), Note: w.note}
	if w.ctx.Err() != nil && !w.spent() {
		cause := judge.End(w.ctx)
		err.Cause = &BackendError{Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause}
	}
	return err
}
