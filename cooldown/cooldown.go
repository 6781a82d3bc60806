// Package cooldown says how long a backend is left alone after a failure, and
// keeps that for one process or for all processes of a user. It knows no CLI by
// name and calls no backend: the chain decides what a state means for a call.
package cooldown

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/resettime"
)

// Rule says how long a backend cools down after a failure. A time that the
// backend itself has given comes before it. The zero value: not at all.
type Rule struct {
	// Base is the first cooldown. Zero: none.
	Base time.Duration
	// Cap limits the cooldown, which doubles with each further failure in a
	// row. Zero: it is always Base.
	Cap time.Duration
	// After is how many failures in a row start a cooldown. Zero: the first.
	After int
	// Scope says which calls the cooldown is for. Zero: all of them.
	Scope Scope
	// Confirm is for failures that the request may have caused: those of different
	// requests count, and the cooldown begins when a probe has failed as well, which
	// the next call sends before its own request. Zero: every failure counts, and the
	// last of them begins the cooldown.
	Confirm bool
}

// Scope says which calls a cooldown is for.
type Scope string

const (
	// ScopeAll, the zero value, is every call of the backend.
	ScopeAll Scope = ""
	// ScopeRequest: calls in the same folder, with the same access, in the same
	// kind of outer session.
	ScopeRequest Scope = "request"
	// ScopeLogin: calls while the login files hold the same credentials.
	ScopeLogin Scope = "login"
)

// Breaker says for which calls the circuit breaker of a provider stands.
type Breaker string

const (
	// BreakerSessions, also the meaning of the zero value: for the sessions of package
	// live.
	BreakerSessions Breaker = "sessions"
	// BreakerOn: for the provider's own calls too, where no chain makes them.
	BreakerOn Breaker = "on"
	// BreakerOff: for none.
	BreakerOff Breaker = "off"
)

// Problem returns what is wrong with a rule; empty if nothing is.
func (r Rule) Problem() string {
	switch {
	case r.Base < 0 || r.Cap < 0 || r.After < 0:
		return "a cooldown cannot be negative"
	case r.Base > resettime.Longest || r.Cap > resettime.Longest:
		return fmt.Sprintf("a cooldown is at most %v", resettime.Longest)
	case r.Cap > 0 && r.Cap < r.Base:
		return fmt.Sprintf("the cooldown of %v is above its cap of %v", r.Base, r.Cap)
	case r.Scope != ScopeAll && r.Scope != ScopeRequest && r.Scope != ScopeLogin:
		return fmt.Sprintf("there is no scope %q", r.Scope)
	}
	return ""
}

// Length returns the cooldown after so many failures in a row, before jitter;
// zero for none.
func (r Rule) Length(failures int) time.Duration {
	if failures < r.After {
		return 0
	}
	d, longest := r.Base, max(r.Cap, r.Base)
	for range failures - max(r.After, 1) {
		if d >= longest {
			break
		}
		d = min(2*d, longest)
	}
	return d
}

// State is what is known of a backend that failed lately: a plain value, fit for
// JSON. Times are wall-clock times in UTC. The zero value: no known failure.
type State struct {
	Reason   call.Reason `json:"reason,omitempty"`   // of the last failure
	Failures int         `json:"failures,omitempty"` // in a row, of reasons that share a rule
	// Requests are hashes of the different requests behind these failures, separated by
	// blanks, where the rule has Confirm. They hold no text.
	Requests string    `json:"requests,omitempty"`
	At       time.Time `json:"at,omitzero"`    // when the last failure was
	Until    time.Time `json:"until,omitzero"` // the end of the cooldown; zero: there is none yet
	// Probe is the end of the half-open probe: until then one call tests whether
	// the backend is available again, and others skip it if there is an Until. After a
	// probe that was answered, the time before which none is made. Zero: no probe.
	Probe time.Time `json:"probe,omitzero"`
	Scope string    `json:"scope,omitempty"` // fingerprint of the calls that it is for; empty: all
}

// failureMemory is how long a failure counts as the one before the next.
const failureMemory = time.Hour

// Stale reports whether the last time in the state is so long ago that the
// failure no longer counts.
func (r State) Stale(now time.Time) bool {
	last := r.At
	for _, t := range []time.Time{r.Until, r.Probe} {
		if t.After(last) {
			last = t
		}
	}
	return now.After(last.Add(failureMemory))
}
