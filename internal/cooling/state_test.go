package cooling

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/resettime"
)

// Concurrent calls that reach the same limit have one cooldown.
func TestConcurrentLimitsShareCooldown(t *testing.T) {
	rule := cooldown.Rule{Base: time.Minute, Cap: time.Hour}
	now := resettime.Wall(time.Now())
	announced := func(began, at, until time.Duration) failure {
		return failure{
			reason: call.ReasonUsageLimit, rule: rule, began: now.Add(began), now: now.Add(at), retryAfter: now.Add(until), chance: 0.5,
		}
	}
	first := after(cooldown.State{}, announced(-time.Minute, 0, time.Hour), true)
	for name, test := range map[string]struct {
		failure failure
		same    bool
	}{
		"at once":         {announced(-time.Minute, time.Second, time.Hour+time.Second), true},
		"the same time":   {announced(-time.Minute, time.Second, time.Hour), true},
		"an earlier one":  {announced(-time.Minute, time.Second, time.Minute), true},
		"a later one":     {announced(-time.Minute, time.Second, 2*time.Hour), false},
		"of a later call": {announced(time.Second, 2*time.Second, time.Hour+time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.same, first == after(first, test.failure, true))
		})
	}
}

// The states after a failure that the request may have caused.
func TestFailuresOfRequests(t *testing.T) {
	rule := cooldown.Rule{Base: time.Minute, Cap: time.Hour, After: 3, Confirm: true}
	now := resettime.Wall(time.Now())
	probe := now.Add(time.Second)
	of := func(request string) failure {
		return failure{reason: call.ReasonExit, rule: rule, began: now, now: now, byRequest: true, request: request, chance: 0.5}
	}
	ofProbe := failure{reason: call.ReasonExit, rule: rule, began: now, now: now, ofProbe: true, probe: probe, chance: 0.5}
	ofStart := failure{reason: call.ReasonExit, rule: rule, began: now, now: now, chance: 0.5}
	state := func(failures int, requests string) cooldown.State {
		return cooldown.State{Reason: call.ReasonExit, Failures: failures, Requests: requests, At: now}
	}
	probing := state(3, "a b c")
	probing.Probe = probe
	rested := state(3, "a b c")
	rested.At, rested.Until, rested.Probe = now.Add(-2*time.Minute), now.Add(-time.Minute), probe
	for name, test := range map[string]struct {
		old      cooldown.State
		failure  failure
		failures int
		requests string
		rests    time.Duration
		probe    time.Time
	}{
		"the first":                              {cooldown.State{}, of("a"), 1, "a", 0, time.Time{}},
		"another":                                {state(1, "a"), of("b"), 2, "a b", 0, time.Time{}},
		"the same":                               {state(1, "a"), of("a"), 1, "a", 0, time.Time{}},
		"the third":                              {state(2, "a b"), of("c"), 3, "a b c", 0, time.Time{}},
		"the fourth is not counted":              {state(3, "a b c"), of("d"), 3, "a b c d", 0, time.Time{}},
		"while a probe is made":                  {probing, of("d"), 3, "a b c d", 0, probe},
		"the probe fails":                        {probing, ofProbe, 3, "a b c", time.Minute, time.Time{}},
		"the probe fails again":                  {rested, ofProbe, 4, "a b c", 2 * time.Minute, time.Time{}},
		"the probe fails after a success":        {cooldown.State{Reason: call.ReasonExit, At: now, Probe: probe}, ofProbe, 0, "", 0, probe},
		"the probe fails after another probe":    {state(3, "a b c"), ofProbe, 3, "a b c", 0, time.Time{}},
		"of a state without requests, as of old": {state(2, ""), of("a"), 3, "a", 0, time.Time{}},
		"without a request":                      {state(2, "a b"), ofStart, 3, "a b", time.Minute, time.Time{}},
		"without a request, too few":             {state(1, "a"), ofStart, 2, "a", 0, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			next := after(test.old, test.failure, true)
			require.Equal(t, test.failures, next.Failures)
			require.Equal(t, test.requests, next.Requests)
			require.Equal(t, test.probe, next.Probe)
			require.Equal(t, test.rests > 0, !next.Until.IsZero())
			if test.rests > 0 {
				require.Equal(t, test.rests, next.Until.Sub(now))
			}
		})
	}
	long := cooldown.State{}
	many := of("")
	many.rule.After = 100
	for i := range 90 {
		many.request = fmt.Sprintf("%016d", i)
		long = after(long, many, true)
	}
	require.Equal(t, 90, long.Failures)
	require.Len(t, strings.Fields(long.Requests), maxRequests, "a store stays small")
}

// A failure without a rule changes nothing, and a probe that ends so leaves the next one to another call.
func TestFailureWithoutRule(t *testing.T) {
	now := resettime.Wall(time.Now())
	old := cooldown.State{Reason: call.ReasonExit, Failures: 2, Requests: "a b", At: now, Probe: now.Add(time.Second)}
	require.Equal(t, old, after(old, failure{reason: call.ReasonBadModel, now: now}, true))
	free := old
	free.Probe = time.Time{}
	require.Equal(t, free, after(old, failure{reason: call.ReasonBadModel, now: now, probe: old.Probe}, true))
}

func TestJitter(t *testing.T) {
	rule := cooldown.Rule{Base: time.Minute, Cap: time.Hour}
	for chance, want := range map[float64]time.Duration{0: 48 * time.Second, 0.5: time.Minute, 1: 72 * time.Second} {
		require.Equal(t, want, failure{rule: rule, chance: chance}.jittered(time.Minute))
	}
	require.Equal(t, time.Hour, failure{rule: rule, chance: 1}.jittered(time.Hour))
	require.Equal(t, time.Minute, failure{rule: cooldown.Rule{Base: time.Minute}, chance: 1}.jittered(time.Minute))
}

// A stored state is corrected if its times cannot be right.
func TestSane(t *testing.T) {
	now := resettime.Wall(time.Now())
	state := func(at, until, probe time.Duration) cooldown.State {
		s := cooldown.State{Reason: call.ReasonExit, Failures: 1, At: now.Add(at)}
		if until != 0 {
			s.Until = now.Add(until)
		}
		if probe != 0 {
			s.Probe = now.Add(probe)
		}
		return s
	}
	const longest, farthest = resettime.Longest, time.Hour + 7*time.Second
	for name, test := range map[string]struct{ stored, want cooldown.State }{
		"nothing":                      {cooldown.State{}, cooldown.State{}},
		"old":                          {state(-2*time.Hour, 0, 0), cooldown.State{}},
		"clocks of two hosts":          {state(2*time.Second, time.Minute, 0), state(2*time.Second, time.Minute, 0)},
		"the clock was set back":       {state(time.Hour, time.Hour+time.Minute, time.Hour), state(0, time.Minute, 0)},
		"set back, no cooldown":        {state(3*time.Second, 0, 0), state(0, 0, 0)},
		"ends before it begins":        {state(time.Hour, time.Minute, 0), state(0, 1, 0)},
		"the longest cooldown":         {state(-time.Minute, longest-time.Minute, 0), state(-time.Minute, longest-time.Minute, 0)},
		"longer":                       {state(-time.Minute, longest, time.Second), state(0, longest, 0)},
		"probe of the longest call":    {state(0, 0, farthest), state(0, 0, farthest)},
		"probe that cannot be so long": {state(0, 0, farthest+1), state(0, 0, 0)},
	} {
		if name == "ends before it begins" {
			test.want.Until = now // without the nanosecond that tells a time from none
		}
		require.Equal(t, test.want, sane(test.stored, now), name)
	}
}

// Two requests have the same fingerprint if they ask for the same, regardless of account and working directory.
func TestFingerprint(t *testing.T) {
	base := call.Request{Messages: []call.Message{{Role: call.RoleUser, Content: "hi"}}}
	with := func(change func(*call.Request)) call.Request {
		req := base.Clone()
		change(&req)
		return req
	}
	for name, test := range map[string]struct {
		req  call.Request
		same bool
	}{
		"metadata": {with(func(r *call.Request) { r.Metadata = map[string]string{"a": "b"} }), true},
		"dir":      {with(func(r *call.Request) { r.Dir = "/somewhere" }), true},
		"text":     {with(func(r *call.Request) { r.Messages[0].Content = "hi." }), false},
		"role":     {with(func(r *call.Request) { r.Messages[0].Role = call.RoleSystem }), false},
		"model":    {with(func(r *call.Request) { r.Model = "m" }), false},
		"schema":   {with(func(r *call.Request) { r.Schema = []byte(`{}`) }), false},
		"options":  {with(func(r *call.Request) { r.Options.MaxTurns = 2 }), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.same, fingerprint(base) == fingerprint(test.req))
			require.Regexp(t, "^[0-9a-f]{16}$", fingerprint(test.req))
		})
	}
}
