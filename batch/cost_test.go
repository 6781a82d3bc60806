package batch

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// The answer that reaches the limit is the last: the worker is told before it has a
// free slot, however late what ends the run comes to know of it.
func TestLimitForTheCostHoldsAtOnce(t *testing.T) {
	out, err := openOutput(filepath.Join(t.TempDir(), "out.jsonl"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, out.close()) }()
	var cause error
	r := &run{
		cfg: &Config{MaxCostUSD: 0.02}, out: out, ids: newLedger(), tally: newTally(), local: &localBackend{},
		store: &store{scope: "batch"}, room: make(chan struct{}, 3), drain: func(why error) { cause = why },
	}
	for i, id := range []string{"a", "b"} {
		require.False(t, r.local.drained.Load(), "after %d", i)
		r.room <- struct{}{}
		r.ids.wait(id, digest{})
		cost := 0.01
		answer := &clichain.Response{Text: "yes", Usage: clichain.Usage{CostUSD: &cost}}
		require.NoError(t, r.record(&jetstream.Result{ID: "batch." + id, Response: answer}))
	}
	require.True(t, r.local.drained.Load())
	require.ErrorIs(t, cause, ErrCost)
}
