package cooling

import (
	"context"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// Entry is one call of one backend, as far as its cooldowns go. The nil entry
// is one of a backend that never cools down.
type Entry struct {
	keeper *Keeper
	call   Call
	key    string
	began  time.Time
	probe  time.Time // until when the others wait for its outcome; zero: they do not
}

// Answered forgets the failures, but not a cooldown that another call has met
// since this one began.
func (t *Entry) Answered(ctx context.Context) {
	if t == nil || t.keeper.load(context.WithoutCancel(ctx), t.key) == (cooldown.State{}) {
		return
	}
	t.keeper.update(ctx, t.key, func(s cooldown.State) cooldown.State {
		if !s.Until.IsZero() && t.began.Before(s.At) {
			return s
		}
		return cooldown.State{}
	})
}

// Failed keeps what the failure says about the calls to come. hurried: the call
// was ended before the backend had the time it is due.
func (t *Entry) Failed(ctx context.Context, err *call.Error, hurried bool) {
	if t == nil {
		return
	}
	if hurried && t.keeper.Rules[err.Reason].After > 1 {
		err = &call.Error{}
	}
	t.keep(ctx, err)
}

func (t *Entry) keep(ctx context.Context, err *call.Error) {
	k := t.keeper
	f := failure{
		reason: err.Reason, rule: k.Rules[err.Reason], told: err.RetryAfter,
		began: t.began, now: k.now(), chance: k.chance(), probe: t.probe,
	}
	if err.Stage == call.StageSkipped {
		f.rule = cooldown.Rule{}
	}
	if f.rule == (cooldown.Rule{}) && t.probe.IsZero() {
		return
	}
	f.scope = t.call.Scope(f.rule.Scope)
	var state cooldown.State
	k.update(ctx, t.key, func(s cooldown.State) cooldown.State {
		state = after(s, f, k.Rules[s.Reason] == f.rule)
		return state
	})
	if state.Until.IsZero() {
		return
	}
	k.Log.DebugContext(ctx, "cooldown", "backend", t.call.Name(), "reason", state.Reason, "until", state.Until)
	if k.Began != nil {
		k.Began(ctx, t.call.Name(), state.Reason, state.Until)
	}
}

// Left gives the probe back: nobody knows what would have come of it.
func (t *Entry) Left(ctx context.Context) {
	if t != nil && !t.probe.IsZero() {
		t.keep(ctx, &call.Error{})
	}
}
