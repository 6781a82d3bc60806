package jetstream_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// TestDepthOfOldestJob checks that a running job is not the oldest waiting one, and that priorities and large jobs do
// not matter.
func TestDepthOfOldestJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	depth := func(waiting, running int) (found jetstream.Depth) {
		t.Helper()
		require.Eventually(t, func() bool {
			d, err := q.Depth(t.Context())
			require.NoError(t, err)
			found = d
			n := 0
			for _, ready := range d.Ready {
				n += ready
			}
			return n == waiting && d.Running == running
		}, limit, 10*time.Millisecond)
		return found
	}
	require.Zero(t, depth(0, 0).Oldest)
	submit(t, q, job("running"))
	started, release := make(chan struct{}), make(chan struct{})
	stop := work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(started)
		<-release
		return &clichain.Response{Text: "done"}, nil
	}), nil)
	<-started
	require.Zero(t, depth(0, 1).Oldest)
	before := time.Now()
	large := jetstream.Job{ID: "large", Request: clichain.Prompt(strings.Repeat("x", 2<<20)), Priority: jetstream.PriorityLow}
	submit(t, q, large)
	after := time.Now()
	submit(t, q, job("small"))
	require.WithinRange(t, depth(2, 1).Oldest, before, after)
	require.NoError(t, q.Drop(t.Context(), "large"))
	require.WithinRange(t, depth(1, 1).Oldest, after, time.Now())
	require.NoError(t, q.Drop(t.Context(), "small"))
	require.Zero(t, depth(0, 1).Oldest)
	close(release)
	stop()
}
