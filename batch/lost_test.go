package batch

import (
	"context"
	"strings"
	"testing"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// The queue stored a failure for a line because its batch was killed several times. Then the batch was killed again
// before it could retry the line. The next run retries it.
func TestRunRetriesLineOfKilledBatch(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("1"))
	giveUp(t, cfg.Out+".queue", jetstream.Job{ID: "batch.1", Request: clichain.Prompt("ask 1")})
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Zero(t, s.Failed)
	require.Equal(t, map[string]string{"1": "ask 1"}, texts(t, cfg.Out))
}

// giveUp stores a failure for a job that states only that the worker has ended.
func giveUp(t *testing.T, folder string, job jetstream.Job) {
	t.Helper()
	server, err := jetstream.Embed(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	nc, err := server.Connect()
	require.NoError(t, err)
	defer nc.Close()
	q, err := jetstream.Open(t.Context(), nc, &jetstream.Config{AckWait: ackWait, MaxDeliver: 1})
	require.NoError(t, err)
	require.NoError(t, q.Submit(t.Context(), job))

	client, err := js.New(nc)
	require.NoError(t, err)
	jobs, err := client.Stream(t.Context(), "clichain_default_jobs")
	require.NoError(t, err)
	var taker js.Consumer
	for name := range jobs.ConsumerNames(t.Context()).Name() {
		if strings.HasPrefix(name, "normal-") { // a message of the job's priority class
			taker, err = jobs.Consumer(t.Context(), name)
			require.NoError(t, err)
		}
	}
	batch, err := taker.Fetch(1)
	require.NoError(t, err)
	taken := <-batch.Messages()
	require.NotNil(t, taken)
	require.NoError(t, taken.Nak()) // the next delivery is the same as after AckWait

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	nobody := clichain.BackendFunc("nobody", func(context.Context, clichain.Request) (*clichain.Response, error) {
		t.Error("it was given up")
		return nil, context.Canceled
	})
	require.NoError(t, q.Work(ctx, nobody, &jetstream.WorkConfig{OnResult: func(r *jetstream.Result) {
		require.Equal(t, clichain.ReasonKilled, r.Failure.Reason)
		stop()
	}}))
}
