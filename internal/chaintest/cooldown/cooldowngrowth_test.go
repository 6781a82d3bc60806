package cooldown_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
)

// Jitter makes a cooldown up to a fifth longer or shorter, but never longer than the maximum.
func TestJitter(t *testing.T) {
	t.Parallel()
	for chance, want := range map[float64]time.Duration{0: 24 * time.Second, 0.5: 30 * time.Second, 0.75: 33 * time.Second, 1: 36 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := chaintest.Failing("a", clichain.ReasonOverloaded)
			c := chaintest.OnClock(chaintest.ChainOf(a), chance, nil)
			for _, rest := range []time.Duration{want, 2 * want} {
				_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				until := chaintest.CoolingUntil(t, c, a)
				require.InDelta(t, rest, time.Until(until), float64(time.Microsecond))
				time.Sleep(time.Until(until))
			}
			for range 5 {
				_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				until := chaintest.CoolingUntil(t, c, a)
				require.LessOrEqual(t, time.Until(until), 5*time.Minute)
				time.Sleep(time.Until(until))
			}
		})
	}
}

// A success, another kind of failure, or enough time ends a row of failures. Three in a row and a failed probe start
// a cooldown of 30 s, and each failed probe doubles it.
func TestFailuresInARow(t *testing.T) {
	t.Parallel()
	soft, hard := clichain.ReasonTimeout, clichain.ReasonOverloaded
	for _, test := range []struct {
		name  string
		calls []clichain.Reason
		pause time.Duration
		rests bool
	}{
		{"three", []clichain.Reason{soft, clichain.ReasonExit, clichain.ReasonEmpty}, 0, true},
		{"a success between", []clichain.Reason{soft, soft, "", soft, soft}, 0, false},
		{"another kind between", []clichain.Reason{soft, soft, hard, soft, soft}, time.Minute, false},
		{"what tells nothing does not end it", []clichain.Reason{soft, soft, clichain.ReasonBadModel, soft}, 0, true},
		{"long ago", []clichain.Reason{soft, soft, soft}, 61 * time.Minute, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &chaintest.Backend{ID: "a"}
				c := chaintest.OnClock(chaintest.ChainOf(a), 0.5, nil)
				for i, reason := range test.calls {
					if a.Err = nil; reason != "" {
						a.Err = &clichain.BackendError{Reason: reason}
					}
					_, err := c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hi ", i)))
					require.NotErrorIs(t, err, clichain.ErrCoolingDown)
					time.Sleep(test.pause)
				}
				_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.Equal(t, test.rests, errors.Is(err, clichain.ErrCoolingDown))
				for _, rest := range []time.Duration{30 * time.Second, time.Minute} {
					if !test.rests {
						break
					}
					until := chaintest.CoolingUntil(t, c, a)
					require.InDelta(t, rest, time.Until(until), float64(time.Microsecond))
					time.Sleep(time.Until(until))
					_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				}
			})
		})
	}
}
