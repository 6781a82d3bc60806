package runs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// enter registers a run that ends when the registry stops it.
func enter(t *testing.T, r *Registry, key string, started time.Time) context.Context {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	entered, leave := r.Enter(WithKey(t.Context(), key, "a label"), "codex", stop)
	Begin(entered)
	for run := range r.runs {
		if run.Key == key {
			run.Started = started
		}
	}
	context.AfterFunc(ctx, leave)
	return ctx
}

func TestKillStale(t *testing.T) {
	var r Registry
	now := time.Now().Round(0)
	old, fresh := enter(t, &r, "old", now.Add(-2*time.Hour)), enter(t, &r, "new", now)
	require.Zero(t, r.KillStale(3*time.Hour))
	require.Equal(t, 1, r.KillStale(time.Hour))
	require.ErrorIs(t, context.Cause(old), ErrAborted)
	require.NoError(t, fresh.Err())
	require.True(t, r.WasAborted("old"))
	require.False(t, r.WasAborted("new"))
	require.False(t, r.HasActive("old"))
	require.Equal(t, []Run{{Key: "new", Label: "a label", Backend: "codex", Started: now}}, r.Active())
	require.Equal(t, 1, r.KillAll("new"))
	require.ErrorIs(t, context.Cause(fresh), ErrAborted)
	r.ClearAbort("new")
	require.False(t, r.WasAborted("new"))
}

// A call without a process, before its first process or between two, is queued.
func TestRegistryReportsQueuedCalls(t *testing.T) {
	var r Registry
	ctx, leave := r.Enter(t.Context(), "codex", nil)
	defer leave()
	came := r.Active()[0].Started
	for range 2 {
		require.True(t, r.Active()[0].Queued)
		require.Equal(t, came, r.Active()[0].Started)
		end := Begin(ctx)
		require.False(t, r.Active()[0].Queued)
		require.False(t, r.Active()[0].Started.Before(came))
		end()
	}
	require.True(t, r.Active()[0].Queued)
}

func TestNilAndEmptyRegistry(t *testing.T) {
	var none *Registry
	ctx, leave := none.Enter(t.Context(), "codex", nil)
	Begin(ctx)
	leave()
	var r Registry
	require.Empty(t, r.Active())
	require.Zero(t, r.KillAll("k"), "nothing runs")
	require.True(t, r.WasAborted("k"), "a late caller sees the mark")
}
