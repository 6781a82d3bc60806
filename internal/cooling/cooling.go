// Package cooling decides which backends of a chain cool down after failures,
// for how long, and which call has the half-open probe afterwards. It knows no
// CLI by name, no request and no process: a Call tells it all it needs, and a
// Store keeps the states.
package cooling

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// Call is one call of a backend, as far as its cooldowns go.
type Call interface {
	Name() string // of the backend
	// Key is what its cooldowns are kept under; ok is false for what never cools
	// down.
	Key() (key string, ok bool)
	// Scope is the fingerprint of the calls that a cooldown is for; empty: all.
	Scope(scope cooldown.Scope) string
	// Request is what the backend is asked; nil where a failure cannot be due to it.
	Request() *call.Request
	Timeout() time.Duration // negative: no bound
}

// Keeper lets the backends of a chain cool down after failures. It is safe for
// concurrent use.
type Keeper struct {
	Store cooldown.Store                // nil: nothing cools down
	Rules map[call.Reason]cooldown.Rule // by the reason of the failure
	Log   *slog.Logger
	// Began is called for each cooldown that begins or is extended; it may be nil.
	Began  func(ctx context.Context, backend string, reason call.Reason, until time.Time)
	Now    func() time.Time // nil: time.Now
	Chance func() float64   // a random number in [0, 1); nil: math/rand

	report  sync.Once    // of the store's first error
	stalled atomic.Int32 // uses of the store that were abandoned and have not returned
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

// inMemory is the store where it is one in memory: the common case, which needs no bound.
func (k *Keeper) inMemory() *cooldown.Memory {
	m, _ := k.Store.(*cooldown.Memory)
	return m
}

// load is the zero state, no cooldown, where the store fails.
func (k *Keeper) load(ctx context.Context, key string) cooldown.State {
	if m := k.inMemory(); m != nil {
		state, _ := m.Load(ctx, key)
		return state
	}
	state, err := k.use(ctx, func(ctx context.Context, _ *access) (cooldown.State, error) {
		return k.Store.Load(ctx, key)
	})
	if err != nil {
		k.logError(ctx, err)
		return cooldown.State{}
	}
	return state
}

// update stores a change even if the call was canceled, so that other calls see
// its outcome. It logs the error.
func (k *Keeper) update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	if m := k.inMemory(); m != nil {
		return m.Update(ctx, key, change)
	}
	_, err := k.use(context.WithoutCancel(ctx), func(ctx context.Context, a *access) (cooldown.State, error) {
		return cooldown.State{}, k.Store.Update(ctx, key, a.guarded(change))
	})
	if err != nil {
		k.logError(ctx, err)
	}
	return err
}

// logError warns of the first error of the store; later ones are for debugging.
func (k *Keeper) logError(ctx context.Context, err error) {
	level := slog.LevelDebug
	k.report.Do(func() { level = slog.LevelWarn })
	k.Log.Log(ctx, level, "cooldown store", "error", err)
}

// until is when the call's backend is available again. halfOpen means that its
// cooldown is over, and that one call may probe whether the backend works.
func (k *Keeper) until(s cooldown.State, now time.Time, c Call) (until time.Time, halfOpen bool) {
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

// Skip returns the error of a call whose backend cools down, else nil. It does
// not take the half-open probe.
func (k *Keeper) Skip(ctx context.Context, c Call) *call.Error {
	key, ok := c.Key()
	if k.Store == nil || !ok {
		return nil
	}
	now := k.now()
	state := sane(k.load(ctx, key), now)
	if until, _ := k.until(state, now, c); !until.IsZero() {
		return coolingError(c, state, until, now)
	}
	return nil
}

// Enter starts a call. It returns the error of a backend that cools down, or the
// entry to close when the call is over: a nil one for a backend that never cools
// down. Of all calls after a cooldown, one has the half-open probe, unless the
// store does not answer: then each has it.
func (k *Keeper) Enter(ctx context.Context, c Call) (*Entry, *call.Error) {
	key, ok := c.Key()
	if k.Store == nil || !ok {
		return nil, nil
	}
	e := &Entry{keeper: k, call: c, key: key, request: c.Request(), began: k.now()}
	state := k.load(ctx, key)
	if state == (cooldown.State{}) {
		return e, nil
	}
	until, halfOpen := k.until(sane(state, e.began), e.began, c)
	if halfOpen || sane(state, e.began) != state {
		state, until = k.probe(ctx, e, state)
	}
	if until.IsZero() {
		e.doubtful = k.inDoubt(sane(state, e.began), e)
		return e, nil
	}
	return nil, coolingError(c, state, until, e.began)
}

// probe takes the half-open probe for a call that found the state, if no other call has it by now. It returns the
// state that the store has then, and when the call may ask again, unless it may go on.
func (k *Keeper) probe(ctx context.Context, e *Entry, state cooldown.State) (cooldown.State, time.Time) {
	var until time.Time
	for range probeTries {
		var halfOpen bool
		until, halfOpen = k.until(sane(state, e.began), e.began, e.call)
		err := k.update(ctx, e.key, func(s cooldown.State) cooldown.State {
			state = sane(s, e.began)
			e.probe = time.Time{}
			if until, halfOpen = k.until(state, e.began, e.call); halfOpen {
				e.probe = e.began.Add(probeTime(ctx, e.call))
				state.Probe = e.probe
			}
			return state
		})
		if !halfOpen || !errors.Is(err, context.DeadlineExceeded) {
			return state, until
		}
		// The call that holds the store up may have taken the probe, which can be read by now.
		state = sane(k.load(ctx, e.key), e.began)
		if until, halfOpen = k.until(state, e.began, e.call); until.Equal(e.probe) {
			return state, time.Time{}
		}
		if !halfOpen {
			break
		}
	}
	return state, until
}

func coolingError(c Call, s cooldown.State, until, now time.Time) *call.Error {
	err := call.Errorf(call.ReasonCoolingDown, "", "cools down %s after %s", UntilText(until, now), s.Reason)
	err.Backend, err.RetryAfter, err.Stage = c.Name(), until, call.StageSkipped
	return err
}

const (
	probeGrace   = 5 * time.Second // that a call may take beyond its timeout
	longestProbe = time.Hour       // for calls without a timeout
	probeTries   = 2               // to take the probe, of a store that does not answer in time
)

// probeTime is how long a probe may take before another call may probe.
func probeTime(ctx context.Context, c Call) time.Duration {
	d := c.Timeout()
	if d < 0 || d > longestProbe {
		d = longestProbe
	}
	if deadline, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(deadline))
	}
	return max(d, 0) + probeGrace
}

// UntilText is a time as a person reads it: "until " and the local time, with
// the day if it is more than 20 hours away.
func UntilText(until, now time.Time) string {
	layout, local := "15:04:05", until.Local()
	if until.Sub(now) > 20*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	return "until " + local.Format(layout)
}
