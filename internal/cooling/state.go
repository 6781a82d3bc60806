package cooling

import (
	"math"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/resettime"
)

const (
	// clockSlack is what the clocks of hosts, and of goroutines that have read
	// the time before others, may differ.
	clockSlack = 2 * time.Second
	// jitter is by how much of itself a cooldown is longer or shorter, so that
	// not all come back at once.
	jitter = 0.2
)

// wall is a time as it can be stored: a clock that was set shows in it.
func wall(t time.Time) time.Time { return t.Round(0).UTC() }

// sane is a state as it holds now. Where the clock went back, or somebody wrote
// nonsense, its cooldown begins now, with the length it had.
func sane(r cooldown.State, now time.Time) cooldown.State {
	switch length := r.Until.Sub(r.At); {
	case r == cooldown.State{} || r.Stale(now):
		return cooldown.State{}
	case r.At.After(now.Add(clockSlack)), !r.Until.IsZero() && length > resettime.Longest:
		r.At, r.Probe = now, time.Time{}
		if !r.Until.IsZero() {
			r.Until = now.Add(min(max(length, 0), resettime.Longest))
		}
	}
	r.Failures = min(max(r.Failures, 0), math.MaxInt16)
	if r.Probe.After(now.Add(longestProbe + probeGrace + clockSlack)) {
		r.Probe = time.Time{}
	}
	return r
}

// failure is what a call has found out.
type failure struct {
	reason     call.Reason
	rule       cooldown.Rule
	scope      string
	began, now time.Time
	told       time.Time // when the backend said that it will be available again
	chance     float64   // in [0, 1)
	probe      time.Time // that the call has; zero: none
}

// after is the state after one more failure; akin says whether the last one was
// under the same rule.
func after(r cooldown.State, f failure, akin bool) cooldown.State {
	old := sane(r, f.now)
	if f.rule.Base <= 0 {
		if !f.probe.IsZero() && f.probe.Equal(old.Probe) {
			old.Probe = time.Time{} // for another call to take
		}
		return old
	}
	next := cooldown.State{Reason: f.reason, Failures: 1, At: f.now, Scope: f.scope}
	// What began before the cooldown did met the same trouble.
	late := !old.Until.IsZero() && f.began.Before(old.At)
	akin = akin && old.Scope == f.scope
	if akin && late {
		next.Failures = old.Failures
	} else if akin {
		next.Failures = old.Failures + 1
	}
	told := f.told.After(f.now)
	if told {
		next.Until = wall(resettime.Clamp(f.told, f.now))
	} else if d := f.rule.Length(next.Failures); d > 0 {
		next.Until = f.now.Add(f.jittered(d))
	}
	if late && (akin && !told || !next.Until.After(old.Until)) {
		return old
	}
	return next
}

// jittered never exceeds the rule's longest cooldown.
func (f failure) jittered(d time.Duration) time.Duration {
	d = time.Duration(float64(d) * (1 + jitter*(2*f.chance-1)))
	return min(d, max(f.rule.Base, f.rule.Cap))
}
