package clichain

import (
	"math"
	"time"
)

// Rest is what is known of a backend that failed lately: a plain value, fit for
// JSON. Times are wall-clock times in UTC. The zero value: nothing is known.
type Rest struct {
	// Reason is that of the last failure.
	Reason Reason `json:"reason,omitempty"`
	// Failures counts them in a row, of reasons that share a rule.
	Failures int `json:"failures,omitempty"`
	// At is when the last one was.
	At time.Time `json:"at,omitzero"`
	// Until is when the rest is over. Zero: it does not rest yet.
	Until time.Time `json:"until,omitzero"`
	// Probe is until when one call alone may find out whether the backend is
	// of use again. Zero: none does.
	Probe time.Time `json:"probe,omitzero"`
	// Scope is the fingerprint of the calls that the rest is for. Empty: all.
	Scope string `json:"scope,omitempty"`
}

const (
	// restMemory is how long a failure counts as the one before the next.
	restMemory = time.Hour
	// clockSlack is what the clocks of hosts, and of goroutines that have read
	// the time before others, may differ.
	clockSlack = 2 * time.Second
	// jitter is by how much of itself a rest is longer or shorter, so that not
	// all come back at once.
	jitter = 0.2
)

// wall is a time as it can be stored: a clock that was set shows in it.
func wall(t time.Time) time.Time { return t.Round(0).UTC() }

// stale reports whether the failure is so long ago that it tells nothing.
func (r Rest) stale(now time.Time) bool {
	last := r.At
	for _, t := range []time.Time{r.Until, r.Probe} {
		if t.After(last) {
			last = t
		}
	}
	return now.After(last.Add(restMemory))
}

// sane is the rest as it holds now. Where the clock went back, or somebody
// wrote nonsense, it begins now, with the length it had.
func (r Rest) sane(now time.Time) Rest {
	switch length := r.Until.Sub(r.At); {
	case r == Rest{} || r.stale(now):
		return Rest{}
	case r.At.After(now.Add(clockSlack)), !r.Until.IsZero() && length > longestRest:
		r.At, r.Probe = now, time.Time{}
		if !r.Until.IsZero() {
			r.Until = now.Add(min(max(length, 0), longestRest))
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
	reason     Reason
	rule       RestRule
	scope      string
	began, now time.Time
	told       time.Time // when the backend said that it will be of use again
	chance     float64   // in [0, 1)
	probe      time.Time // that the call has; zero: none
}

// after is the rest after one more failure; akin says whether the last one was
// under the same rule.
func (r Rest) after(f failure, akin bool) Rest {
	old := r.sane(f.now)
	if f.rule.Base <= 0 {
		if !f.probe.IsZero() && f.probe.Equal(old.Probe) {
			old.Probe = time.Time{} // for another call to take
		}
		return old
	}
	next := Rest{Reason: f.reason, Failures: 1, At: f.now, Scope: f.scope}
	// What began before the rest did met the same trouble.
	late := !old.Until.IsZero() && f.began.Before(old.At)
	akin = akin && old.Scope == f.scope
	if akin && late {
		next.Failures = old.Failures
	} else if akin {
		next.Failures = old.Failures + 1
	}
	told := f.told.After(f.now)
	if told {
		next.Until = wall(clampReset(f.told, f.now))
	} else if d := f.rule.length(next.Failures); d > 0 {
		next.Until = f.now.Add(f.jittered(d))
	}
	if late && (akin && !told || !next.Until.After(old.Until)) {
		return old
	}
	return next
}

// jittered never exceeds the rule's longest rest.
func (f failure) jittered(d time.Duration) time.Duration {
	d = time.Duration(float64(d) * (1 + jitter*(2*f.chance-1)))
	return min(d, max(f.rule.Base, f.rule.Cap))
}
