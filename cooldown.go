package clichain

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// cooldowns lets the backends of a chain rest after failures. It is safe for
// concurrent use.
type cooldowns struct {
	store  Store // nil: nothing rests
	table  map[Reason]row
	log    *slog.Logger
	report sync.Once // of the store's first error
	rested func(ctx context.Context, backend string, reason Reason, until time.Time)

	now    func() time.Time
	chance func() float64
}

// newCooldowns takes what it needs of a chain's settings.
func newCooldowns(cfg *ChainConfig, table map[Reason]row) *cooldowns {
	c := &cooldowns{store: cfg.Store, table: table, log: cfg.withDefaults().Logger, now: time.Now, chance: rand.Float64, rested: cfg.Hooks.Cooldown}
	switch {
	case cfg.NoCooldown:
		c.store = nil
	case c.store == nil:
		c.store = NewMemoryStore()
	}
	return c
}

// storeWait bounds what a call waits for a store.
const storeWait = 500 * time.Millisecond

// load never fails: what is not known does not rest.
func (c *cooldowns) load(ctx context.Context, key string) Rest {
	if m, ok := c.store.(*MemoryStore); ok { // the common case, without a timer
		rest, _ := m.Load(ctx, key)
		return rest
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	rest, err := c.store.Load(ctx, key)
	if err != nil {
		c.trouble(ctx, err)
		return Rest{}
	}
	return rest
}

// update goes on after the end of the call, so that what it has found out is
// known to others.
func (c *cooldowns) update(ctx context.Context, key string, change func(Rest) Rest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	if err := c.store.Update(ctx, key, change); err != nil {
		c.trouble(ctx, err)
	}
}

func (c *cooldowns) trouble(ctx context.Context, err error) {
	level := slog.LevelDebug
	c.report.Do(func() { level = slog.LevelWarn })
	c.log.Log(ctx, level, "cooldown store", "error", err)
}

// resting is until when the backend is not to be asked; half means that it has
// rested, and that one call may find out whether that was enough.
func (c *cooldowns) resting(r Rest, now time.Time, b Backend, req Request) (until time.Time, half bool) {
	switch {
	case r.Until.IsZero() || r.Scope != "" && r.Scope != scopeOf(c.table[r.Reason].rest.Scope, b, req):
		return time.Time{}, false
	case now.Before(r.Until):
		return r.Until, false
	case now.Before(r.Probe):
		return r.Probe, false
	}
	return time.Time{}, true
}

// rests reports whether a call would be skipped, and takes no probe.
func (c *cooldowns) rests(ctx context.Context, b Backend, req Request) (Rest, time.Time) {
	key, ok := restKey(b, req.Model)
	if c.store == nil || !ok {
		return Rest{}, time.Time{}
	}
	now := wall(c.now())
	rest := c.load(ctx, key).sane(now)
	until, _ := c.resting(rest, now, b, req)
	return rest, until
}

// awake reports whether a call of the backend would not be skipped for its
// rest.
func (c *cooldowns) awake(ctx context.Context, b Backend, req Request) bool {
	_, until := c.rests(ctx, b, req)
	return until.IsZero()
}

// enter is the start of a call of the backend: the skip of one that rests, or
// the turn to end when the call is over. Of all calls after a rest, one has the
// probe.
func (c *cooldowns) enter(ctx context.Context, b Backend, req Request) (*turn, *BackendError) {
	key, ok := restKey(b, req.Model)
	if c.store == nil || !ok {
		return nil, nil
	}
	t := &turn{c: c, key: key, backend: b, req: req, began: wall(c.now())}
	rest := c.load(ctx, key)
	if rest == (Rest{}) {
		return t, nil
	}
	until, half := c.resting(rest.sane(t.began), t.began, b, req)
	if half || rest.sane(t.began) != rest {
		c.update(ctx, key, func(r Rest) Rest {
			rest = r.sane(t.began)
			t.probe = time.Time{}
			if until, half = c.resting(rest, t.began, b, req); half {
				t.probe = t.began.Add(probeSlot(ctx, b))
				rest.Probe = t.probe
			}
			return rest
		})
	}
	if until.IsZero() {
		return t, nil
	}
	return nil, restError(b, rest, until, t.began)
}

// skip is the error of a backend that rests. It takes no probe.
func (c *cooldowns) skip(ctx context.Context, b Backend) *BackendError {
	rest, until := c.rests(ctx, b, Request{})
	if until.IsZero() {
		return nil
	}
	return restError(b, rest, until, c.now())
}

func restError(b Backend, rest Rest, until, now time.Time) *BackendError {
	err := errorf(ReasonCoolingDown, "", "rests %s after %s", untilText(until, now), rest.Reason)
	err.Backend, err.RetryAfter, err.Stage = b.Name(), until, StageSkipped
	return err
}

const (
	// probeGrace is what a call may take beyond its timeout.
	probeGrace = 5 * time.Second
	// longestProbe is for calls without a timeout.
	longestProbe = time.Hour
)

// probeSlot is how long a probe may take before another call may try.
func probeSlot(ctx context.Context, b Backend) time.Duration {
	d := DefaultTimeout
	if p := providerOf(b); p != nil {
		d = p.cfg.Timeout
	}
	if d < 0 || d > longestProbe {
		d = longestProbe
	}
	if deadline, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(deadline))
	}
	return max(d, 0) + probeGrace
}

// untilText is a time as a person reads it.
func untilText(until, now time.Time) string {
	layout, local := "15:04:05", until.Local()
	if until.Sub(now) > 20*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	return "until " + local.Format(layout)
}

// allRest is the cause of a chain that has tried nothing because what could
// have answered rests; nil for any other.
func allRest(attempts []Attempt) error {
	var first *BackendError
	for _, a := range attempts {
		if !a.Skipped || !policy[a.Reason].next {
			return nil
		}
		be, _ := errors.AsType[*BackendError](a.Err)
		if a.Reason == ReasonCoolingDown && be != nil && (first == nil || be.RetryAfter.Before(first.RetryAfter)) {
			first = be
		}
	}
	if first == nil {
		return nil
	}
	err := errorf(ReasonCoolingDown, "", "every backend that could answer rests, the first of them %s", untilText(first.RetryAfter, time.Now()))
	err.RetryAfter = first.RetryAfter
	return err
}
