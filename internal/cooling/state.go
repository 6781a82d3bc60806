package cooling

import (
	"math"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/resettime"
)

const (
	clockSlack = 2 * time.Second // possible difference between the clocks of hosts, and between readings of one clock
	jitter     = 0.2             // random fraction of a cooldown, so that hosts do not all retry at once
)

// sane corrects a stored state. If the clock was set back, or the length is out of range, the cooldown begins
// now, with its length limited to the longest.
func sane(s cooldown.State, now time.Time) cooldown.State {
	switch length := s.Until.Sub(s.At); {
	case s == cooldown.State{} || s.Stale(now):
		return cooldown.State{}
	case s.At.After(now.Add(clockSlack)), !s.Until.IsZero() && length > resettime.Longest:
		s.At, s.Probe = now, time.Time{}
		if !s.Until.IsZero() {
			s.Until = now.Add(min(max(length, 0), resettime.Longest))
		}
	}
	s.Failures = min(max(s.Failures, 0), math.MaxInt16)
	if s.Probe.After(now.Add(longestProbe + probeGrace + clockSlack)) {
		s.Probe = time.Time{}
	}
	return s
}

// failure is the outcome of a failed call.
type failure struct {
	reason     call.Reason
	rule       cooldown.Rule
	scope      string
	began, now time.Time
	retryAfter time.Time // when the backend will be available again, according to its own message
	chance     float64   // in [0, 1)
	probe      time.Time // end of the call's half-open probe; zero: the call has no probe
	byRequest  bool      // the request may have caused the failure, so a probe must confirm it
	request    string    // fingerprint of the request
	ofProbe    bool      // the failed call is a probe, which no request can have caused to fail
}

// after returns the state after one more failure. sameRule reports whether the previous failure had the same
// rule.
func after(s cooldown.State, f failure, sameRule bool) cooldown.State {
	old := sane(s, f.now)
	if f.rule.Base <= 0 {
		if !f.probe.IsZero() && f.probe.Equal(old.Probe) {
			old.Probe = time.Time{} // another call may take the probe
		}
		return old
	}
	if f.ofProbe && f.rule.Confirm && (!f.probe.Equal(old.Probe) || old.Failures == 0) {
		return old // a success or another failure came before the end of the probe
	}
	next := cooldown.State{Reason: f.reason, At: f.now, Scope: f.scope}
	// A call that began before the cooldown saw the same failure, not another one.
	late := !old.Until.IsZero() && f.began.Before(old.At)
	sameRule = sameRule && old.Scope == f.scope
	next.Failures, next.Requests = f.count(old, sameRule, late)
	if f.byRequest && old.Until.IsZero() {
		next.Probe = old.Probe
	}
	announced := f.retryAfter.After(f.now)
	if announced {
		next.Until = resettime.Wall(resettime.Clamp(f.retryAfter, f.now))
	} else if d := f.rule.Length(next.Failures); d > 0 && !f.byRequest {
		next.Until = f.now.Add(f.jittered(d))
	}
	// Several processes that read "in five minutes" compute slightly different times for the same cooldown.
	if late && (sameRule && !announced || !next.Until.After(old.Until.Add(clockSlack))) {
		return old
	}
	return next
}

// maxRequests limits the number of requests in a state.
const maxRequests = 16

// count returns the number of consecutive failures including this one, and the fingerprints of their requests.
func (f failure) count(old cooldown.State, sameRule, late bool) (n int, requests string) {
	enough := max(f.rule.After, 1)
	switch {
	case f.ofProbe && f.rule.Confirm && (!sameRule || old.Until.IsZero()):
		return enough, old.Requests
	case !sameRule:
		return 1, f.request
	case !f.byRequest && late:
		return old.Failures, old.Requests
	case !f.byRequest:
		return old.Failures + 1, old.Requests
	case late || strings.Contains(old.Requests, f.request):
		return old.Failures, old.Requests
	}
	seen := strings.Fields(old.Requests + " " + f.request)
	seen = seen[max(len(seen)-maxRequests, 0):]
	return min(old.Failures+1, enough), strings.Join(seen, " ")
}

// jittered adds jitter to a duration. The result never exceeds the longest cooldown of the rule.
func (f failure) jittered(d time.Duration) time.Duration {
	d = time.Duration(float64(d) * (1 + jitter*(2*f.chance-1)))
	return min(d, max(f.rule.Base, f.rule.Cap))
}
