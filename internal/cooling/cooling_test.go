package cooling

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

type fakeCall struct{ timeout time.Duration }

func (fakeCall) Name() string                      { return "a" }
func (fakeCall) Key() (string, bool)               { return "a", true }
func (fakeCall) Scope(cooldown.Scope) string       { return "" }
func (fakeCall) Request() *call.Request            { return nil }
func (fakeCall) AccountKey() (key, account string) { return "", "" }
func (fakeCall) UsesWindow(string) bool            { return true }
func (c fakeCall) Timeout() time.Duration          { return c.timeout }

// A probe ends with the deadline of its call, so that other calls do not wait for a timeout that the call never
// had.
func TestProbeEndsWithItsCall(t *testing.T) {
	for name, test := range map[string]struct{ timeout, deadline, want time.Duration }{
		"no deadline":           {time.Minute, 0, time.Minute + probeGrace},
		"deadline is earlier":   {time.Minute, 10 * time.Second, 10*time.Second + probeGrace},
		"deadline is later":     {time.Minute, time.Hour, time.Minute + probeGrace},
		"deadline is over":      {time.Minute, -time.Second, probeGrace},
		"no timeout":            {-1, 0, longestProbe + probeGrace},
		"no timeout, deadline":  {-1, 10 * time.Second, 10*time.Second + probeGrace},
		"no time":               {0, 0, probeGrace},
		"timeout of many hours": {100 * time.Hour, 0, longestProbe + probeGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.deadline != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				require.Equal(t, test.want, probeTime(ctx, fakeCall{test.timeout}))
			})
		})
	}
}

// Failures that no request can have caused need no extra probe: the next call is the half-open probe.
func TestConfirmNeedsRequests(t *testing.T) {
	for requests, asked := range map[string]int{"": 0, "a b c": 1} {
		store := cooldown.NewMemory()
		k := &Keeper{
			Store: store, Log: slog.New(slog.DiscardHandler),
			Rules: map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute, After: 3, Confirm: true}},
		}
		past := k.now().Add(-time.Minute)
		require.NoError(t, store.Update(t.Context(), "a", func(cooldown.State) cooldown.State {
			return cooldown.State{Reason: call.ReasonExit, Failures: 3, Requests: requests, At: past, Until: past.Add(time.Second)}
		}))
		e, refused := k.Enter(t.Context(), fakeCall{})
		require.Nil(t, refused)
		got := 0
		require.Nil(t, e.Confirm(t.Context(), func() ([]call.Attempt, bool, error) {
			got++
			return nil, false, nil
		}))
		require.Equal(t, asked, got, requests)
	}
}

// A limit that another call reaches during the probe stays, whatever the result of the probe.
func TestConfirmKeepsOtherCooldown(t *testing.T) {
	for name, err := range map[string]error{"answered": nil, "failed": call.ErrExit, "without a cooldown": call.ErrBadModel} {
		t.Run(name, func(t *testing.T) {
			store := cooldown.NewMemory()
			k := &Keeper{
				Store: store, Log: slog.New(slog.DiscardHandler),
				Rules: map[call.Reason]cooldown.Rule{call.ReasonExit: {Base: time.Minute, After: 3, Confirm: true}},
			}
			doubt := cooldown.State{Reason: call.ReasonExit, Failures: 3, Requests: "a b c", At: k.now()}
			limit := cooldown.State{Reason: call.ReasonUsageLimit, Failures: 1, At: k.now(), Until: k.now().Add(time.Hour)}
			put := func(s cooldown.State) {
				require.NoError(t, store.Update(t.Context(), "a", func(cooldown.State) cooldown.State { return s }))
			}
			put(doubt)
			e, refused := k.Enter(t.Context(), fakeCall{})
			require.Nil(t, refused)
			e.Confirm(t.Context(), func() ([]call.Attempt, bool, error) {
				put(limit)
				return nil, false, err
			})
			state, _ := store.Load(t.Context(), "a")
			require.Equal(t, limit, state)
		})
	}
}
