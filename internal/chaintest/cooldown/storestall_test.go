package cooldown_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// A store takes at most a tenth of the time of a call. The chain continues without it, and reports it.
func TestStalledStoreLeavesTheBudget(t *testing.T) {
	t.Parallel()
	const answers = 700 * time.Millisecond
	for name, store := range map[string]func() cooldown.Store{
		"heeds its context": func() cooldown.Store { return brokenStore{hangs: true} },
		"fails at once":     func() cooldown.Store { return brokenStore{} },
		"Load stalls":       func() cooldown.Store { return &chaintest.StalledStore{LoadStalls: true} },
		"Update stalls":     func() cooldown.Store { return &chaintest.StalledStore{UpdateStalls: true} },
		"all stalls":        func() cooldown.Store { return &chaintest.StalledStore{LoadStalls: true, UpdateStalls: true} },
	} {
		for kind, failing := range map[string]bool{"first answers": false, "second answers": true} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					kept := store()
					if s, ok := kept.(*chaintest.StalledStore); ok {
						s.Release = make(chan struct{})
						defer close(s.Release)
					}
					first, second := &chaintest.Backend{ID: "first", Takes: answers}, &chaintest.Backend{ID: "second", Takes: answers}
					if failing {
						first = &chaintest.Backend{ID: "first", Err: &clichain.BackendError{Reason: clichain.ReasonUsageLimit}}
					}
					c := clichain.ChainOf([]clichain.Backend{first, second, &chaintest.Backend{ID: "third"}}, &clichain.ChainConfig{Store: kept})
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					start := time.Now()
					resp, err := c.Complete(ctx, clichain.Prompt("hi"))
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(start), answers+100*time.Millisecond)
					if name != "Update stalls" || failing { // otherwise nothing was stored
						require.Len(t, resp.Warnings, 1, "%q", resp.Warnings)
						require.Contains(t, resp.Warnings[0], "cooldowns: ")
					}
				})
			})
		}
	}
}

// A stalled store is not used until it has recovered.
func TestStalledStoreComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &chaintest.StalledStore{LoadStalls: true, Release: make(chan struct{})}
		a := chaintest.Failing("a", clichain.ReasonUsageLimit)
		c := clichain.ChainOf([]clichain.Backend{a, &chaintest.Backend{ID: "next"}}, &clichain.ChainConfig{Store: store})
		start := time.Now()
		for range 100 {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, time.Since(start), time.Second)
		require.Equal(t, 100, a.Asked)
		close(store.Release)
		synctest.Wait()
		for range 2 {
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Empty(t, resp.Warnings)
		}
		require.Equal(t, 101, a.Asked, "the cooldown is kept")
	})
}

// After a cooldown, a store that cannot decide which call probes does not block the backend.
func TestStalledStoreAndTheProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &chaintest.StalledStore{Release: make(chan struct{})}
		defer close(store.Release)
		a := chaintest.Failing("a", clichain.ReasonUsageLimit)
		c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: store})
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrUsageLimit)
		time.Sleep(time.Hour)
		store.UpdateStalls, a.Err = true, nil
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			resp, err := c.Complete(ctx, clichain.Prompt("hi"))
			cancel()
			require.NoError(t, err)
			require.Len(t, resp.Warnings, 1)
			require.LessOrEqual(t, time.Since(start), 100*time.Millisecond)
		}
	})
}

// A panic of a store reaches the caller, like a panic of a backend.
func TestStoreThatPanics(t *testing.T) {
	t.Parallel()
	c := clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "a"}}, &clichain.ChainConfig{Store: &struct{ cooldown.Store }{}})
	require.Panics(t, func() { _, _ = c.Complete(t.Context(), clichain.Prompt("hi")) })
}
