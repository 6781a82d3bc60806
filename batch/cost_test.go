package batch

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// After the answer that reaches the cost limit, the worker takes no more jobs, even if a slot is free.
func TestRunStopsAtCostLimit(t *testing.T) {
	t.Parallel()
	rec := newRecorder(&Config{Out: filepath.Join(t.TempDir(), "out.jsonl"), MaxCostUSD: 0.02})
	require.NoError(t, rec.openOutput())
	defer func() { require.NoError(t, rec.out.Close()) }()
	var cause error
	backend := &localBackend{}
	r := &run{feeder{rec: rec, drain: func(why error) { cause = why }}}
	rec.exec = &local{backend: backend}
	rec.queue, rec.costReached = &queue{scope: "batch"}, r.costReached
	for i, id := range []string{"a", "b"} {
		require.False(t, backend.drained.Load(), "after %d", i)
		require.NoError(t, rec.expect(t.Context(), id, Digest{}))
		cost := 0.01
		answer := &clichain.Response{Text: "yes", Usage: clichain.Usage{CostUSD: &cost}}
		require.NoError(t, rec.record(&jetstream.Result{ID: "batch." + id, Response: answer}))
	}
	require.True(t, backend.drained.Load())
	require.ErrorIs(t, cause, ErrCost)
}
