// Package cooldown declares the rules for the cooldown of a backend after a failure, and stores that keep cooldowns for
// one process or for all processes of a user. It calls no backend; the chain applies the state to calls.
package cooldown

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/resettime"
)

// Rule determines how long a backend is in cooldown after a failure. If the backend gave a time, that time applies
// instead. The zero value means no cooldown.
type Rule struct {
	// Base is the first cooldown. Zero: none.
	Base time.Duration
	// Cap limits the cooldown, which doubles with each further consecutive failure. Zero: the cooldown is always
	// Base.
	Cap time.Duration
	// After is the number of consecutive failures that start a cooldown. Zero: 1.
	After int
	// Scope determines which calls the cooldown affects. Zero: all.
	Scope Scope
	// Confirm is for failures that the request may have caused. Only failures of different requests count. After
	// that, the next call first sends a probe, and the cooldown starts if the probe fails too. Zero: every failure
	// counts, and no probe is needed.
	Confirm bool
}

// Scope determines which calls a cooldown affects.
type Scope string

const (
	// ScopeAll, the zero value: every call of the backend.
	ScopeAll Scope = ""
	// ScopeRequest: calls in the same directory, with the same access and in the same kind of outer session.
	ScopeRequest Scope = "request"
	// ScopeLogin: calls while the login files contain the same credentials.
	ScopeLogin Scope = "login"
)

// Breaker determines for which calls the circuit breaker of a provider works.
type Breaker string

const (
	// BreakerSessions, also the meaning of the zero value: for the sessions of package live.
	BreakerSessions Breaker = "sessions"
	// BreakerOn: for calls of the provider too, unless a chain makes them.
	BreakerOn Breaker = "on"
	// BreakerOff: for no call.
	BreakerOff Breaker = "off"
)

// Problem describes the mistake in a rule, or returns "".
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

// Length returns the cooldown after a number of consecutive failures, before jitter. Zero means no cooldown.
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

// State is the cooldown state of a backend. It is a plain value that can be stored as JSON. Times are wall-clock
// times in UTC. The zero value means that there is no recent failure.
type State struct {
	Reason   call.Reason `json:"reason,omitempty"`   // reason of the last failure
	Failures int         `json:"failures,omitempty"` // consecutive failures with reasons that share a rule
	// Requests are hashes of the requests that failed, separated by spaces, if the rule has Confirm.
	Requests string    `json:"requests,omitempty"`
	At       time.Time `json:"at,omitzero"`    // time of the last failure
	Until    time.Time `json:"until,omitzero"` // end of the cooldown; zero: not in cooldown
	// Probe is the end of the half-open probe: until then one call tests whether the backend is available, and the
	// other calls skip it if Until is set. After a successful probe, it is the time before which no other probe is
	// made. Zero: no probe.
	Probe time.Time `json:"probe,omitzero"`
	Scope string    `json:"scope,omitempty"` // fingerprint of the affected calls; empty: all
}

// failureMemory is the time after which a failure no longer counts as consecutive.
const failureMemory = time.Hour

// Stale reports whether all times in the state are so old that its failures no longer count.
func (r State) Stale(now time.Time) bool {
	last := r.At
	for _, t := range []time.Time{r.Until, r.Probe} {
		if t.After(last) {
			last = t
		}
	}
	return now.After(last.Add(failureMemory))
}
