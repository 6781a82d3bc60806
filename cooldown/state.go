package cooldown

import (
	"time"

	"github.com/clichain/clichain/call"
)

// State is what is known of a backend that failed lately: a plain value, fit for
// JSON. Times are wall-clock times in UTC. The zero value: nothing is known.
type State struct {
	// Reason is that of the last failure.
	Reason call.Reason `json:"reason,omitempty"`
	// Failures counts them in a row, of reasons that share a rule.
	Failures int `json:"failures,omitempty"`
	// At is when the last one was.
	At time.Time `json:"at,omitzero"`
	// Until is when the cooldown is over. Zero: there is none yet.
	Until time.Time `json:"until,omitzero"`
	// Probe is until when one call alone may find out whether the backend is
	// available again. Zero: no call does.
	Probe time.Time `json:"probe,omitzero"`
	// Scope is the fingerprint of the calls that the cooldown is for. Empty: all.
	Scope string `json:"scope,omitempty"`
}

// failureMemory is how long a failure counts as the one before the next.
const failureMemory = time.Hour

// Stale reports whether the failure is so long ago that it tells nothing.
func (r State) Stale(now time.Time) bool {
	last := r.At
	for _, t := range []time.Time{r.Until, r.Probe} {
		if t.After(last) {
			last = t
		}
	}
	return now.After(last.Add(failureMemory))
}
