package cooling

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// scopedCall is a call of backend "a" with a request and a scope.
type scopedCall struct {
	fakeCall
	request *call.Request
	scope   string
	never   bool // the call never causes a cooldown
}

func (c scopedCall) Request() *call.Request      { return c.request }
func (c scopedCall) Scope(cooldown.Scope) string { return c.scope }
func (c scopedCall) Key() (string, bool)         { return "a", !c.never }

var request = new(call.Prompt("hi"))

// clock returns a keeper with a store that records its updates, and a clock that the test sets.
func clock(rules map[call.Reason]cooldown.Rule) (k *Keeper, store *sharedStore, now *time.Time) {
	store = newShared(works)
	now = new(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	return &Keeper{
		Store: store, Rules: rules, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return *now }, Chance: func() float64 { return 0.5 },
	}, store, now
}

func enter(t *testing.T, k *Keeper, c Call) *Entry {
	t.Helper()
	e, refused := k.Enter(t.Context(), c)
	require.Nil(t, refused)
	return e
}

func TestFailedBeginsCooldown(t *testing.T) {
	minute := cooldown.Rule{Base: time.Minute}
	withSchema := new(call.Prompt("hi"))
	withSchema.Schema = []byte(`{}`)
	for name, test := range map[string]struct {
		rule     cooldown.Rule
		request  *call.Request
		failed   call.Error
		cutShort bool
		cools    bool
	}{
		"a failure":                      {minute, request, call.Error{Reason: call.ReasonExit}, false, true},
		"no rule":                        {cooldown.Rule{}, request, call.Error{Reason: call.ReasonExit}, false, false},
		"skipped":                        {minute, request, call.Error{Reason: call.ReasonExit, Stage: call.StageSkipped}, false, false},
		"wrong answer":                   {minute, request, call.Error{Reason: call.ReasonBadOutput}, false, true},
		"wrong answer, unknown request":  {minute, nil, call.Error{Reason: call.ReasonBadOutput}, false, true},
		"answer that misses the schema":  {minute, withSchema, call.Error{Reason: call.ReasonBadOutput}, false, false},
		"failure of call with schema":    {minute, withSchema, call.Error{Reason: call.ReasonExit}, false, true},
		"cut short, first failure cools": {minute, request, call.Error{Reason: call.ReasonExit}, true, true},
		"cut short, after 1":             {cooldown.Rule{Base: time.Minute, After: 1}, request, call.Error{Reason: call.ReasonExit}, true, true},
		"below after":                    {cooldown.Rule{Base: time.Minute, After: 2}, request, call.Error{Reason: call.ReasonExit}, false, false},
		"request may be the cause":       {cooldown.Rule{Base: time.Minute, Confirm: true}, request, call.Error{Reason: call.ReasonExit}, false, false},
		"request cannot be the cause":    {cooldown.Rule{Base: time.Minute, Confirm: true}, nil, call.Error{Reason: call.ReasonExit}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			k, _, now := clock(map[call.Reason]cooldown.Rule{test.failed.Reason: test.rule})
			c := scopedCall{request: test.request}
			enter(t, k, c).Failed(t.Context(), &test.failed, test.cutShort)
			refused := k.Skip(t.Context(), c)
			require.Equal(t, test.cools, refused != nil)
			if test.cools {
				require.Equal(t, now.Add(time.Minute), refused.RetryAfter.UTC())
			}
		})
	}
}

// Failures that are cut short do not count towards a cooldown that needs several.
func TestFailuresAreCounted(t *testing.T) {
	twice := cooldown.Rule{Base: time.Minute, After: 2}
	for name, test := range map[string]struct {
		rules    map[call.Reason]cooldown.Rule
		second   call.Reason
		cutShort bool
		cools    bool
	}{
		"same reason":    {map[call.Reason]cooldown.Rule{call.ReasonExit: twice}, call.ReasonExit, false, true},
		"cut short":      {map[call.Reason]cooldown.Rule{call.ReasonExit: twice}, call.ReasonExit, true, false},
		"same rule":      {map[call.Reason]cooldown.Rule{call.ReasonExit: twice, call.ReasonKilled: twice}, call.ReasonKilled, false, true},
		"different rule": {map[call.Reason]cooldown.Rule{call.ReasonExit: twice, call.ReasonKilled: {Base: time.Hour, After: 2}}, call.ReasonKilled, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			k, _, _ := clock(test.rules)
			c := scopedCall{}
			enter(t, k, c).Failed(t.Context(), &call.Error{Reason: call.ReasonExit}, false)
			enter(t, k, c).Failed(t.Context(), &call.Error{Reason: test.second}, test.cutShort)
			require.Equal(t, test.cools, k.Skip(t.Context(), c) != nil)
		})
	}
}

// An answer clears the failures. Without failures it writes nothing.
func TestAnsweredClearsFailures(t *testing.T) {
	k, store, _ := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute, After: 2}})
	e := enter(t, k, scopedCall{})
	e.Answered(t.Context())
	require.Zero(t, store.updates.Load())
	e.Failed(t.Context(), &call.Error{Reason: call.ReasonExit}, false)
	require.Equal(t, 1, k.load(t.Context(), "a").Failures)
	enter(t, k, scopedCall{}).Answered(t.Context())
	require.Zero(t, k.load(t.Context(), "a"))
}

// A cooldown with a scope applies to the calls of that scope.
func TestScopeOfCooldown(t *testing.T) {
	k, _, _ := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute}})
	enter(t, k, scopedCall{scope: "one"}).Failed(t.Context(), &call.Error{Reason: call.ReasonExit}, false)
	require.NotNil(t, k.Skip(t.Context(), scopedCall{scope: "one"}))
	require.Nil(t, k.Skip(t.Context(), scopedCall{scope: "two"}))
	require.Nil(t, k.Skip(t.Context(), scopedCall{scope: "one", never: true}))
	_, refused := k.Enter(t.Context(), scopedCall{scope: "one"})
	require.NotNil(t, refused)
	enter(t, k, scopedCall{scope: "two"})
	none := &Keeper{}
	require.Nil(t, none.Skip(t.Context(), scopedCall{}))
}

// After a cooldown, one call probes. If it ends without an outcome, another call may probe.
func TestHalfOpenProbe(t *testing.T) {
	k, store, now := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute}})
	c := scopedCall{fakeCall: fakeCall{timeout: 10 * time.Second}}
	enter(t, k, c).Failed(t.Context(), &call.Error{Reason: call.ReasonExit}, false)
	updates := store.updates.Load()
	_, refused := k.Enter(t.Context(), c)
	require.NotNil(t, refused)
	require.Equal(t, updates, store.updates.Load(), "a call in a cooldown writes nothing")
	*now = now.Add(time.Minute)
	probe := enter(t, k, c)
	_, refused = k.Enter(t.Context(), c)
	require.Equal(t, now.Add(15*time.Second), refused.RetryAfter.UTC(), "the timeout of the probe and its grace")
	probe.Left(t.Context())
	again := enter(t, k, c)
	again.Ended(t.Context(), nil, false)
	require.Zero(t, k.load(t.Context(), "a"))
}

// A cooldown that begins in the future begins now, because the clock was set back, and not again with each call.
func TestCooldownOfTheFuture(t *testing.T) {
	k, store, now := clock(nil)
	later := now.Add(time.Hour)
	require.NoError(t, store.Memory.Update(t.Context(), "a", func(cooldown.State) cooldown.State {
		return cooldown.State{Reason: call.ReasonExit, Failures: 1, At: later, Until: later.Add(time.Minute)}
	}))
	_, refused := k.Enter(t.Context(), scopedCall{})
	require.Equal(t, now.Add(time.Minute), refused.RetryAfter.UTC())
	*now = now.Add(30 * time.Second)
	_, refused = k.Enter(t.Context(), scopedCall{})
	require.Equal(t, now.Add(30*time.Second), refused.RetryAfter.UTC())
}

// The entry of a backend that never has a cooldown is nil.
func TestNilEntry(t *testing.T) {
	var e *Entry
	ctx := t.Context()
	e.Answered(ctx)
	e.Failed(ctx, &call.Error{}, false)
	e.Left(ctx)
	e.Ended(ctx, nil, false)
	require.Nil(t, e.Again(request))
	require.False(t, e.Doubtful())
	require.Nil(t, e.Probed())
	require.Nil(t, e.Confirm(ctx, nil))
}

// A breaker begins calls in a process that was admitted once. The first of them has the half-open probe.
func TestBreakerCallsOfOneProcess(t *testing.T) {
	k, _, now := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute, After: 2}})
	admitted := enter(t, k, scopedCall{})
	for range 2 {
		require.Nil(t, k.Skip(t.Context(), scopedCall{}))
		next := admitted.Again(nil)
		require.NotNil(t, next)
		next.Ended(t.Context(), &call.Error{Reason: call.ReasonExit, RetryAfter: now.Add(time.Hour)}, false)
	}
	require.Equal(t, now.Add(time.Minute), k.Skip(t.Context(), scopedCall{}).RetryAfter.UTC(), "the reported time is ignored")
}
