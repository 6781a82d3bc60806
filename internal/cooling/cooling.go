// Package cooling decides which backends of a chain are in cooldown after failures, for how long, and which
// call sends the half-open probe afterwards. It knows no CLI by name, no request and no process: a Call
// provides the facts, and a Store keeps the states.
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
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/quota"
)

// Call describes one call of a backend to the keeper of its cooldowns.
type Call interface {
	Name() string // of the backend
	// Key is the key of the call's cooldown in the store. ok is false if the call never causes a cooldown.
	Key() (key string, ok bool)
	// Scope is the fingerprint of the calls that a cooldown applies to; empty means all calls.
	Scope(scope cooldown.Scope) string
	// AccountKey is the key of the account's usage windows in the store, and the name of the account. The key is empty
	// if the backend has no account.
	AccountKey() (key, account string)
	// UsesWindow reports whether the call may use a usage window of the account, or whether that is unknown.
	UsesWindow(name string) bool
	// Request is the request of the call. Nil means that a failure cannot be due to the request.
	Request() *call.Request
	Timeout() time.Duration // negative: no limit
}

// Keeper puts the backends of a chain in cooldown after failures. It is safe for concurrent use.
type Keeper struct {
	Store cooldown.Store                // nil: there are no cooldowns
	Rules map[call.Reason]cooldown.Rule // by the reason of the failure
	// Quotas has the usage windows of accounts. Nil: they are not stored.
	Quotas  cooldown.QuotaStore
	Reserve quota.Reserve // the shares of usage windows that no call uses
	Log     *slog.Logger
	// Began, if not nil, is called for each cooldown that begins or is extended.
	Began  func(ctx context.Context, backend string, reason call.Reason, until time.Time)
	Now    func() time.Time // nil: time.Now
	Chance func() float64   // a random number in [0, 1); nil: math/rand

	report  sync.Once    // for the store's first error
	stalled atomic.Int32 // uses of the store that were abandoned and have not returned
}

func (k *Keeper) now() time.Time {
	if k.Now != nil {
		return resettime.Wall(k.Now())
	}
	return resettime.Wall(time.Now())
}

func (k *Keeper) chance() float64 {
	if k.Chance != nil {
		return k.Chance()
	}
	return rand.Float64()
}

// inMemory returns the store if it is an in-memory store, else nil. This common case needs no time limit.
func (k *Keeper) inMemory() *cooldown.Memory {
	m, _ := k.Store.(*cooldown.Memory)
	return m
}

// slow reports whether any store of the keeper needs a time limit.
func (k *Keeper) slow() bool {
	_, fast := k.Quotas.(*cooldown.Memory)
	return k.Store != nil && k.inMemory() == nil || k.Quotas != nil && !fast
}

// load returns the stored state. If the store fails, it returns the zero state, which means no cooldown.
func (k *Keeper) load(ctx context.Context, key string) cooldown.State {
	if m := k.inMemory(); m != nil {
		state, _ := m.Load(ctx, key)
		return state
	}
	state, err := use(ctx, k, func(ctx context.Context, _ *access[cooldown.State]) (cooldown.State, error) {
		return k.Store.Load(ctx, key)
	})
	if err != nil {
		k.logError(ctx, err)
		return cooldown.State{}
	}
	return state
}

// update stores a change even if the call was canceled, so that other calls see its outcome. It logs the error.
func (k *Keeper) update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	if m := k.inMemory(); m != nil {
		return m.Update(ctx, key, change)
	}
	ctx = context.WithoutCancel(ctx)
	_, err := use(ctx, k, func(ctx context.Context, a *access[cooldown.State]) (s cooldown.State, err error) {
		return s, k.Store.Update(ctx, key, a.guarded(change))
	})
	if err != nil {
		k.logError(ctx, err)
	}
	return err
}

// logError logs the first error of the store as a warning, and later errors at debug level.
func (k *Keeper) logError(ctx context.Context, err error) {
	level := slog.LevelDebug
	k.report.Do(func() { level = slog.LevelWarn })
	k.Log.Log(ctx, level, "cooldown store", "error", err)
}

// until returns when the backend is available again for the call. halfOpen means that the cooldown is over and
// that one call may probe the backend.
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

// Skip returns the error of a call whose backend is in cooldown or has only its reserve left, else nil. It does
// not take the half-open probe.
func (k *Keeper) Skip(ctx context.Context, c Call) *call.Error {
	if err := k.reserved(ctx, c); err != nil {
		return err
	}
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

// Enter begins a call. It returns an error if the backend is in cooldown or has only its reserve left. Otherwise
// it returns the entry to close at the end of the call, or nil for a backend that never has a cooldown. After a
// cooldown, one call gets the half-open probe. If the store does not respond, each call gets it.
func (k *Keeper) Enter(ctx context.Context, c Call) (*Entry, *call.Error) {
	if err := k.reserved(ctx, c); err != nil {
		return nil, err
	}
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

// probe takes the half-open probe for a call that found the state, if no other call has it. It returns the new
// state in the store. The returned time is when the call may try again, or zero if it may continue now.
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
		// Another call may have taken the probe while it delayed the store, so read the state again.
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
	err := call.Errorf(call.ReasonCoolingDown, "", "in cooldown %s after %s", UntilText(until, now), s.Reason)
	err.Backend, err.RetryAfter, err.Stage = c.Name(), until, call.StageSkipped
	return err
}

const (
	probeGrace   = 5 * time.Second // time that a call may take beyond its timeout
	longestProbe = time.Hour       // for calls without a timeout
	probeTries   = 2               // attempts to take the probe from a store that does not respond in time
)

// probeTime returns how long a probe may take before another call may probe.
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

// UntilText formats a time for display: "until " and the local time, with the day if the time is more than 20
// hours away.
func UntilText(until, now time.Time) string {
	layout, local := "15:04:05", until.Local()
	if until.Sub(now) > 20*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	return "until " + local.Format(layout)
}
