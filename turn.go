package clichain

import (
	"context"
	"errors"
	"time"
)

// turn is one call of one backend, as far as its rests go. The nil turn is one
// of a backend that never rests.
type turn struct {
	c       *cooldowns
	key     string
	backend Backend
	req     Request
	began   time.Time
	probe   time.Time // until when the others wait for what comes of it; zero: they do not
}

// answered forgets the failures, but not a rest that another call has met since
// this one began.
func (t *turn) answered(ctx context.Context) {
	if t == nil || t.c.load(context.WithoutCancel(ctx), t.key) == (Rest{}) {
		return
	}
	t.c.update(ctx, t.key, func(r Rest) Rest {
		if !r.Until.IsZero() && t.began.Before(r.At) {
			return r
		}
		return Rest{}
	})
}

// failed keeps what the failure says about the calls to come. hurried: the call
// was ended before the backend had the time it is due.
func (t *turn) failed(ctx context.Context, err error, hurried bool) {
	if t == nil {
		return
	}
	be := asBackendError("", err)
	if _, chain := errors.AsType[*ChainError](err); chain {
		be = &BackendError{} // its own backends rest
	}
	if hurried && t.c.table[be.Reason].rest.After > 1 {
		be = &BackendError{}
	}
	t.keep(ctx, be)
}

func (t *turn) keep(ctx context.Context, err *BackendError) {
	f := failure{
		reason: err.Reason, rule: t.c.table[err.Reason].rest, told: err.RetryAfter,
		began: t.began, now: wall(t.c.now()), chance: t.c.chance(), probe: t.probe,
	}
	if err.Stage == StageSkipped {
		f.rule = RestRule{}
	}
	if f.rule == (RestRule{}) && t.probe.IsZero() {
		return
	}
	f.scope = scopeOf(f.rule.Scope, t.backend, t.req)
	var rest Rest
	t.c.update(ctx, t.key, func(r Rest) Rest {
		rest = r.after(f, t.c.table[r.Reason].rest == f.rule)
		return rest
	})
	if !rest.Until.IsZero() {
		t.c.log.DebugContext(ctx, "backend rests", "backend", t.backend.Name(), "reason", rest.Reason, "until", rest.Until)
		if t.c.rested != nil {
			t.c.rested(ctx, t.backend.Name(), rest.Reason, rest.Until)
		}
	}
}

// left gives the probe back: nobody knows what would have come of it.
func (t *turn) left(ctx context.Context) {
	if t != nil && !t.probe.IsZero() {
		t.keep(ctx, &BackendError{})
	}
}
