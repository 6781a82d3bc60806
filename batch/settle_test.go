package batch

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// An earlier run submitted the line. Its result arrives and is recorded while this run submits the line again. Without
// the result, Submit would add the job again.
func TestSettleKeepsResultOfLineBeingSubmitted(t *testing.T) {
	cfg := batchOf(t, "")
	r := &run{feeder{cfg: cfg, rec: newRecorder(cfg)}}
	require.NoError(t, r.open(t.Context()))
	defer func() { require.NoError(t, r.close(true)) }()
	rec := r.rec
	rec.stop = func(err error) { require.NoError(t, err) }
	job := jetstream.Job{ID: rec.queue.outside("a"), Request: clichain.Prompt("ask a")}
	require.NoError(t, rec.queue.Submit(t.Context(), job))

	require.NoError(t, rec.expect(t.Context(), "a", Digest{}))
	work, stop := context.WithCancel(t.Context())
	defer stop()
	require.NoError(t, rec.queue.Work(work, cfg.Backends[0], &jetstream.WorkConfig{OnResult: func(result *jetstream.Result) {
		require.NoError(t, rec.record(result))
		stop()
	}}))
	rec.settle(t.Context())
	require.ErrorIs(t, rec.queue.Submit(t.Context(), job), jetstream.ErrExists)
	rec.submitted()
	rec.settle(t.Context())
	_, err := rec.queue.Result(t.Context(), job.ID)
	require.ErrorIs(t, err, jetstream.ErrNotFound)
}
