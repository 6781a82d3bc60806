package cooling

import (
	"context"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// Entry is one call of one backend, as the keeper of the cooldowns sees it. A nil Entry belongs to a backend
// that never has a cooldown; its methods do nothing.
type Entry struct {
	keeper   *Keeper
	call     Call
	key      string
	request  *call.Request // nil: a failure is not due to the request
	began    time.Time
	probe    time.Time // when other calls stop waiting for the outcome of this probe; zero: the call is no probe
	doubtful bool      // a probe must confirm the failures so far
	probed   []call.Attempt
}

// Answered clears the failures of the backend, but not a cooldown that began during this call.
func (e *Entry) Answered(ctx context.Context) {
	if e == nil {
		return
	}
	now := e.keeper.now()
	if s := e.keeper.load(context.WithoutCancel(ctx), e.key); s == cleared(s, now) {
		return
	}
	_ = e.keeper.update(ctx, e.key, func(s cooldown.State) cooldown.State {
		if !s.Until.IsZero() && e.began.Before(s.At) {
			return s
		}
		return cleared(s, now)
	})
}

// Failed records the consequences of a failure for later calls. cutShort means that the call was stopped before
// its timeout; then reasons that need several failures do not count.
func (e *Entry) Failed(ctx context.Context, err *call.Error, cutShort bool) {
	if e == nil {
		return
	}
	if e.excused(err, cutShort) {
		err = &call.Error{}
	}
	e.keep(ctx, err, false)
}

// excused reports whether a failure does not count, because its call was stopped early. A limit that the backend has
// reported counts.
func (e *Entry) excused(err *call.Error, cutShort bool) bool {
	return cutShort && e.keeper.Rules[err.Reason].After > 1
}

// keep records the failure of a request or of a probe.
func (e *Entry) keep(ctx context.Context, err *call.Error, ofProbe bool) cooldown.State {
	k := e.keeper
	f := failure{
		reason: err.Reason, rule: k.Rules[err.Reason], retryAfter: err.RetryAfter, ofProbe: ofProbe,
		began: e.began, now: k.now(), chance: k.chance(), probe: e.probe,
	}
	missesSchema := err.Reason == call.ReasonBadOutput && !ofProbe && e.request != nil && len(e.request.Schema) > 0
	if err.Stage == call.StageSkipped || missesSchema {
		f.rule = cooldown.Rule{}
	}
	if f.rule == (cooldown.Rule{}) && e.probe.IsZero() {
		return cooldown.State{}
	}
	f.scope = e.call.Scope(f.rule.Scope)
	if f.byRequest = f.rule.Confirm && !ofProbe && e.request != nil; f.byRequest {
		f.request = fingerprint(*e.request)
	}
	var state cooldown.State
	_ = k.update(ctx, e.key, func(s cooldown.State) cooldown.State {
		state = after(s, f, k.Rules[s.Reason] == f.rule)
		return state
	})
	if state.Until.IsZero() {
		return state
	}
	k.Log.DebugContext(ctx, "cooldown", "backend", e.call.Name(), "reason", state.Reason, "until", state.Until)
	if k.Began != nil {
		k.Began(ctx, e.call.Name(), state.Reason, state.Until)
	}
	return state
}

// Left lets another call take the half-open probe, because this call ended without an outcome.
func (e *Entry) Left(ctx context.Context) {
	if e != nil && !e.probe.IsZero() {
		e.keep(ctx, &call.Error{}, false)
	}
}
