package failover_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// returns fails the test if KillAll waits for an event that cannot happen.
func returns(t *testing.T, kill func() int, want int) {
	t.Helper()
	start := time.Now()
	require.Equal(t, want, kill())
	testtime.Within(t, start, 10*time.Second, "less than KillAll's own bound, which gives up on the run")
}

// A hook or the loop over the events may end the call.
func TestKillAllFromTheStreamsOwnLoop(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, chain := range map[string]func(clichain.Backend) clichain.Backend{
		"provider": func(b clichain.Backend) clichain.Backend { return b },
		"chain":    func(b clichain.Backend) clichain.Backend { return clichain.ChainOf([]clichain.Backend{b}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r runs.Registry
			b := chain(chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: &r}, chaintest.Talkative))
			var last error
			for e, err := range b.Stream(runs.WithKey(t.Context(), "k", ""), clichain.Prompt("hi")) {
				if last = err; e.Kind == clichain.EventRaw && !r.WasAborted("k") {
					returns(t, func() int { return r.KillAll("k") }, 1)
					require.Empty(t, r.Active())
				}
			}
			require.ErrorIs(t, last, runs.ErrAborted)
		})
	}
}

// A stuck reader does not delay KillAll.
func TestKillAllWithAStuckReader(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var r runs.Registry
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: &r}, chaintest.Talkative)
	stuck, free := make(chan struct{}), make(chan struct{})
	var calls sync.WaitGroup
	var last error
	calls.Go(func() {
		once := sync.OnceFunc(func() { close(stuck); <-free })
		for e, err := range p.Stream(runs.WithKey(t.Context(), "k", ""), clichain.Prompt("hi")) {
			if last = err; e.Kind == clichain.EventRaw {
				once()
			}
		}
	})
	<-stuck
	returns(t, func() int { return r.KillAll("k") }, 1)
	close(free)
	calls.Wait()
	require.ErrorIs(t, last, runs.ErrAborted)
}

// KillAll also ends a call that waits for a slot or for its session.
func TestKillAllEndsQueuedCalls(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var r runs.Registry
	slots := make(chan struct{}, 1)
	slots <- struct{}{}
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: &r, Slots: slots}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("ok"))))
	next := &chaintest.Backend{ID: "next"}
	c := clichain.ChainOf([]clichain.Backend{p, next}, nil)
	var calls sync.WaitGroup
	errs := make([]error, 3)
	for i, key := range []string{"k", "other", ""} {
		calls.Go(func() {
			_, errs[i] = c.Complete(runs.WithKey(context.WithoutCancel(t.Context()), key, ""), clichain.Prompt("hi"))
		})
	}
	require.Eventually(t, func() bool { return len(r.Active()) == 3 }, time.Minute, time.Millisecond)
	require.True(t, r.Active()[0].Queued)
	require.Zero(t, r.KillStale(0), "what waits is not stale")
	returns(t, func() int { return r.KillAll("k") }, 1)
	require.False(t, r.HasActive("k"))
	require.True(t, r.HasActive("other"))
	returns(t, r.KillAllKeys, 2)
	require.True(t, r.WasAborted("other"))
	calls.Wait()
	for _, err := range errs {
		require.ErrorIs(t, err, runs.ErrAborted)
	}
	require.Zero(t, next.Asked)
}
