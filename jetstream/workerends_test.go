package jetstream_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
)

// A worker that ends returns its unfinished jobs, and that is no failure.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessWrite} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
			j := job("a")
			j.Request.Access = access
			submit(t, q, j)
			running := make(chan struct{})
			stop := work(t, q, backend(func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
				close(running)
				<-ctx.Done()
				return nil, ctx.Err()
			}), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessWrite}})
			<-running
			stop()
			work(t, q, echo(), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessWrite}})
			r := collect(t, q, 1)["a"]
			require.NotNil(t, r.Response)
			require.Len(t, r.History, 1)
			require.Equal(t, clichain.ReasonCanceled, r.History[0].Reason)
		})
	}
}

// Within its grace a worker that ends finishes its jobs, and takes no more.
func TestGrace(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"), job("b"))
	running, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- q.Work(ctx, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
			close(running)
			<-ended
			return &clichain.Response{Text: "x"}, nil
		}), &jetstream.WorkConfig{Grace: limit})
	}()
	<-running
	cancel()
	close(ended)
	require.NoError(t, <-done)
	require.Len(t, collect(t, q, 1), 1)
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, s.Ready[jetstream.PriorityNormal])
}
