package cooling

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// The outcome of a probe decides about the failures of requests.
func TestConfirm(t *testing.T) {
	confirm := cooldown.Rule{Base: time.Minute, After: 2, Confirm: true}
	tried := []call.Attempt{{Usage: call.Usage{InputTokens: 3}}, {Usage: call.Usage{InputTokens: 4}}}
	for name, test := range map[string]struct {
		err      error
		cutShort bool
		refused  bool
		failures int           // that the store has afterwards
		next     time.Duration // until another call may probe
	}{
		"answered":               {next: time.Minute},
		"failed":                 {err: call.Errorf(call.ReasonExit, "", "no"), refused: true, failures: 2},
		"failed, cut short":      {err: call.Errorf(call.ReasonExit, "", "no"), cutShort: true, failures: 2},
		"canceled":               {err: call.Errorf(call.ReasonCanceled, "", "no"), failures: 2},
		"no evidence":            {err: call.Errorf(call.ReasonBadModel, "", "no"), next: time.Minute},
		"no evidence, cut short": {err: call.Errorf(call.ReasonBadModel, "", "no"), cutShort: true, next: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			k, store, now := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: confirm})
			for _, text := range []string{"one", "two"} {
				c := scopedCall{request: new(call.Prompt(text))}
				enter(t, k, c).Failed(t.Context(), &call.Error{Reason: call.ReasonExit}, false)
			}
			e := enter(t, k, scopedCall{request: request})
			require.True(t, e.Doubtful())
			other := enter(t, k, scopedCall{request: request})
			require.True(t, other.Doubtful())
			refused := e.Confirm(t.Context(), func() ([]call.Attempt, bool, error) {
				require.Nil(t, other.Confirm(t.Context(), nil), "another call is probing")
				return tried, test.cutShort, test.err
			})
			require.Equal(t, test.refused, refused != nil)
			require.False(t, e.Doubtful())
			if test.refused {
				require.EqualValues(t, 7, refused.Usage.InputTokens)
				require.Contains(t, refused.Message, "; a probe failed as well: exit")
				require.Empty(t, e.Probed(), "the error has the usage")
				require.NotNil(t, e.Reenter(t.Context()))
				return
			}
			require.Equal(t, tried, e.Probed())
			state, err := store.Memory.Load(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, test.failures, state.Failures)
			require.Equal(t, test.next > 0, state.Probe.After(*now))
			if test.next > 0 {
				require.Equal(t, now.Add(test.next), state.Probe.UTC())
			}
			require.Nil(t, e.Reenter(t.Context()))
			require.Equal(t, tried, e.Probed(), "the call begins again after its probe")
			require.False(t, e.Doubtful())
		})
	}
}

// Only the calls of its scope doubt a backend.
func TestDoubtHasScope(t *testing.T) {
	k, store, now := clock(map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute, After: 2, Confirm: true}})
	for scope, want := range map[string]map[string]bool{
		"":    {"": true, "one": true},
		"one": {"": false, "one": true, "two": false},
	} {
		require.NoError(t, store.Memory.Update(t.Context(), "a", func(cooldown.State) cooldown.State {
			return cooldown.State{Reason: call.ReasonExit, Failures: 2, Requests: "x y", At: *now, Scope: scope}
		}))
		for of, doubtful := range want {
			require.Equal(t, doubtful, enter(t, k, scopedCall{scope: of}).Doubtful(), "%q for %q", scope, of)
		}
	}
}

// A probe takes at most a minute, and not longer than a call may take.
func TestProbeHasLimit(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		-1: time.Minute, 0: time.Minute, 10 * time.Second: 10 * time.Second, time.Minute: time.Minute, time.Hour: time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := Probe(t.Context(), t.Context(), fakeCall{timeout}, call.Prompt("hi"),
				func(ctx context.Context, _ call.Request) (*call.Response, error) {
					deadline, ok := ctx.Deadline()
					require.True(t, ok)
					require.Equal(t, want, time.Until(deadline))
					return &call.Response{}, nil
				})
			require.NoError(t, err)
		})
	}
}

// A caller with less than half of the probe's time does not decide about the backend.
func TestProbeCutShort(t *testing.T) {
	for name, test := range map[string]struct {
		caller   time.Duration // its time; zero: no deadline
		err      error
		cutShort bool
	}{
		"no deadline":     {0, context.DeadlineExceeded, false},
		"less than half":  {30*time.Second - 1, context.DeadlineExceeded, true},
		"half":            {30 * time.Second, context.DeadlineExceeded, false},
		"more than half":  {45 * time.Second, context.DeadlineExceeded, false},
		"another failure": {time.Second, errors.New("exit"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller := t.Context()
				if test.caller > 0 {
					var cancel context.CancelFunc
					caller, cancel = context.WithTimeout(caller, test.caller)
					defer cancel()
				}
				_, cutShort, err := Probe(caller, t.Context(), fakeCall{time.Hour}, call.Prompt("hi"),
					func(context.Context, call.Request) (*call.Response, error) { return nil, test.err })
				require.ErrorIs(t, err, test.err)
				require.Equal(t, test.cutShort, cutShort)
			})
		})
	}
}
