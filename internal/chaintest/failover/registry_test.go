package failover_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// hanging starts calls that hang, and returns when their programs run.
func hanging(t *testing.T, r *runs.Registry, keys ...string) (wait func() []error) {
	t.Helper()
	var calls sync.WaitGroup
	errs := make([]error, len(keys))
	for i, key := range keys {
		started := filepath.Join(t.TempDir(), "started")
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: r}, chaintest.Play(clitest.Step{Record: started}, clitest.Step{Hang: true}))
		calls.Go(func() {
			_, errs[i] = p.Complete(runs.WithKey(t.Context(), key, "call "+key), clichain.Prompt("hi"))
		})
		require.Eventually(t, func() bool { _, err := clitest.ReadRecord(started); return err == nil }, time.Minute, time.Millisecond)
	}
	return func() []error { calls.Wait(); return errs }
}

func TestRegistryKillsOneKey(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var r runs.Registry
	wait := hanging(t, &r, "a", "b", "a")
	require.True(t, r.HasActive("a"))
	require.False(t, r.HasActive("c"))
	active := r.Active()
	require.Len(t, active, 3)
	require.Equal(t, runs.Run{Key: "a", Label: "call a", Backend: "codex", Started: active[0].Started}, active[0])

	require.Equal(t, 2, r.KillAll("a"))
	require.False(t, r.HasActive("a"), "they are gone when KillAll returns")
	require.True(t, r.HasActive("b"))
	require.True(t, r.WasAborted("a"))
	require.False(t, r.WasAborted("b"))
	r.ClearAbort("a")
	require.False(t, r.WasAborted("a"))

	require.Equal(t, 1, r.KillAll("b"))
	for _, err := range wait() {
		chaintest.RequireReason(t, clichain.ReasonCanceled, err)
		require.ErrorIs(t, err, runs.ErrAborted)
	}
	require.Empty(t, r.Active())
	require.Zero(t, r.KillAll("a"))
}

// An abort ends the chain: the next backend must not answer a stopped call.
func TestAbortEndsTheChain(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var r runs.Registry
	started := filepath.Join(t.TempDir(), "started")
	next := &chaintest.Backend{ID: "next"}
	c := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: &r}, chaintest.Play(clitest.Step{Record: started}, clitest.Step{Hang: true})), next,
	}, nil)
	var err error
	var running sync.WaitGroup
	running.Go(func() { _, err = c.Complete(runs.WithKey(t.Context(), "k", ""), clichain.Prompt("hi")) })
	require.Eventually(t, func() bool { _, err := clitest.ReadRecord(started); return err == nil }, time.Minute, time.Millisecond)
	require.Equal(t, 1, r.KillAll("k"))
	running.Wait()
	require.ErrorIs(t, err, runs.ErrAborted)
	require.Zero(t, next.Asked)
}

// The clock for the age of a run includes the time in which the machine sleeps.
func TestRunsAreTimedByTheWallClock(t *testing.T) {
	t.Parallel()
	var r runs.Registry
	wait := hanging(t, &r, "k")
	started := r.Active()[0].Started
	require.Equal(t, started, started.Round(0), "no monotonic reading")
	r.KillAll("k")
	wait()
}

func TestSlots(t *testing.T) {
	t.Parallel()
	answer := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("ok")))
	t.Run("the timeout starts with the slot", func(t *testing.T) {
		clitest.NoLeaks(t)
		var r runs.Registry
		slots := make(chan struct{}, 1)
		started := filepath.Join(t.TempDir(), "started")
		holder := chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: slots, Registry: &r}, chaintest.Play(clitest.Step{Record: started}, clitest.Step{Hang: true}))
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = holder.Complete(runs.WithKey(t.Context(), "holder", ""), clichain.Prompt("hi")) })
		require.Eventually(t, func() bool { _, err := clitest.ReadRecord(started); return err == nil }, time.Minute, time.Millisecond)

		var err error
		queued := chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: slots, Timeout: time.Minute}, answer)
		calls.Go(func() { _, err = queued.Complete(t.Context(), clichain.Prompt("hi")) })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, late := queued.Complete(ctx, clichain.Prompt("hi"))
		chaintest.RequireReason(t, clichain.ReasonBudgetSpent, late)
		require.ErrorIs(t, late, context.DeadlineExceeded)

		r.KillAll("holder")
		calls.Wait()
		require.NoError(t, err)
	})
	t.Run("slots of each backend", func(t *testing.T) {
		clitest.NoLeaks(t)
		var r runs.Registry
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{MaxParallel: 2, Registry: &r}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Sleep: 30 * time.Millisecond}, chaintest.Stdout(chaintest.CodexAnswer("ok"))))
		most, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			for t.Context().Err() == nil {
				running := slices.DeleteFunc(r.Active(), func(run runs.Run) bool { return run.Queued })
				most = max(most, len(running))
				if r.HasActive("last") {
					return
				}
			}
		}()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() { _, err := p.Complete(t.Context(), clichain.Prompt("hi")); require.NoError(t, err) })
		}
		calls.Wait()
		_, err := p.Complete(runs.WithKey(t.Context(), "last", ""), clichain.Prompt("hi"))
		require.NoError(t, err)
		<-done
		require.LessOrEqual(t, most, 2)
	})
	t.Run("the chain's budget ends the wait", func(t *testing.T) {
		clitest.NoLeaks(t)
		slots := make(chan struct{}, 1)
		slots <- struct{}{}
		release := func() { <-slots }
		defer release()
		c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: slots}, answer)}, &clichain.ChainConfig{Budget: 50 * time.Millisecond})
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrBudgetSpent)
	})
}
