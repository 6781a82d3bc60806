package cooling

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// Call is one call of a backend, as far as its cooldowns go.
type Call interface {
	// Name is the backend's.
	Name() string
	// Key is what its cooldowns are kept under; ok is false for what never cools
	// down.
	Key() (key string, ok bool)
	// Scope is the fingerprint of the calls that a cooldown is for; empty: all.
	Scope(scope cooldown.Scope) string
	// Timeout is what the call may take; negative: no bound.
	Timeout() time.Duration
}

// Keeper lets the backends of a chain cool down after failures. It is safe for
// concurrent use.
type Keeper struct {
	Store cooldown.Store                // nil: nothing cools down
	Rules map[call.Reason]cooldown.Rule // by the reason of the failure
	Log   *slog.Logger
	// Began is told of each cooldown. Nil: nobody is.
	Began func(ctx context.Context, backend string, reason call.Reason, until time.Time)
	// Now and Chance are the clock, and a random number in [0, 1). Nil: the real
	// ones.
	Now    func() time.Time
	Chance func() float64

	report sync.Once // of the store's first error
}

func (k *Keeper) now() time.Time {
	if k.Now != nil {
		return wall(k.Now())
	}
	return wall(time.Now())
}

func (k *Keeper) chance() float64 {
	if k.Chance != nil {
		return k.Chance()
	}
	return rand.Float64()
}

// storeWait bounds what a call waits for a store.
const storeWait = 500 * time.Millisecond

// load never fails: what is not known does not cool down.
func (k *Keeper) load(ctx context.Context, key string) cooldown.State {
	if m, ok := k.Store.(*cooldown.Memory); ok { // the common case, without a timer
		state, _ := m.Load(ctx, key)
		return state
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	state, err := k.Store.Load(ctx, key)
	if err != nil {
		k.trouble(ctx, err)
		return cooldown.State{}
	}
	return state
}

// update goes on after the end of the call, so that what it has found out is
// known to others.
func (k *Keeper) update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	if err := k.Store.Update(ctx, key, change); err != nil {
		k.trouble(ctx, err)
	}
}

func (k *Keeper) trouble(ctx context.Context, err error) {
	level := slog.LevelDebug
	k.report.Do(func() { level = slog.LevelWarn })
	k.Log.Log(ctx, level, "cooldown store", "error", err)
}

// until is when the call's backend may be asked again; half means that its
// cooldown is over, and that one call may find out whether that was enough.
func (k *Keeper) until(s cooldown.State, now time.Time, c Call) (until time.Time, half bool) {
	switch {
	case s.Until.IsZero() || s.Scope != "" && s.Scope != c.Scope(k.Rules[s.Reason].Scope):
		return time.Time{}, false
	case now.Before(s.Until):
		return s.Until, false
	case now.Before(s.Probe):
		return s.Probe, false
	}
	return time.Time{}, true
}

// Skip is the error of a call whose backend cools down; nil: it does not. It
// takes no probe.
func (k *Keeper) Skip(ctx context.Context, c Call) *call.Error {
	key, ok := c.Key()
	if k.Store == nil || !ok {
		return nil
	}
	now := k.now()
	state := sane(k.load(ctx, key), now)
	until, _ := k.until(state, now, c)
	if until.IsZero() {
		return nil
	}
	return coolingError(c, state, until, now)
}

// Enter is the start of a call: the skip of a backend that cools down, or the
// entry to close when the call is over; a nil entry is one of a backend that
// never cools down. Of all calls after a cooldown, one has the probe.
func (k *Keeper) Enter(ctx context.Context, c Call) (*Entry, *call.Error) {
	key, ok := c.Key()
	if k.Store == nil || !ok {
		return nil, nil
	}
	t := &Entry{keeper: k, call: c, key: key, began: k.now()}
	state := k.load(ctx, key)
	if state == (cooldown.State{}) {
		return t, nil
	}
	until, half := k.until(sane(state, t.began), t.began, c)
	if half || sane(state, t.began) != state {
		k.update(ctx, key, func(s cooldown.State) cooldown.State {
			state = sane(s, t.began)
			t.probe = time.Time{}
			if until, half = k.until(state, t.began, c); half {
				t.probe = t.began.Add(probeSlot(ctx, c))
				state.Probe = t.probe
			}
			return state
		})
	}
	if until.IsZero() {
		return t, nil
	}
	return nil, coolingError(c, state, until, t.began)
}

func coolingError(c Call, s cooldown.State, until, now time.Time) *call.Error {
	err := call.Errorf(call.ReasonCoolingDown, "", "cools down %s after %s", UntilText(until, now), s.Reason)
	err.Backend, err.RetryAfter, err.Stage = c.Name(), until, call.StageSkipped
	return err
}

const (
	// probeGrace is what a call may take beyond its timeout.
	probeGrace = 5 * time.Second
	// longestProbe is for calls without a timeout.
	longestProbe = time.Hour
)

// probeSlot is how long a probe may take before another call may try.
func probeSlot(ctx context.Context, c Call) time.Duration {
	d := c.Timeout()
	if d < 0 || d > longestProbe {
		d = longestProbe
	}
	if deadline, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(deadline))
	}
	return max(d, 0) + probeGrace
}

// UntilText is a time as a person reads it.
func UntilText(until, now time.Time) string {
	layout, local := "15:04:05", until.Local()
	if until.Sub(now) > 20*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	return "until " + local.Format(layout)
}
