package live_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// Close ends the calls in flight, and returns.
func TestPoolCloseEndsCallsInFlight(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "threads", "", patient, nil)
	failed := make(chan error, 1)
	started := make(chan struct{}, 1)
	go func() {
		var err error
		for e, failure := range b.Stream(context.Background(), clichain.Prompt("hang")) {
			if err = failure; e.Kind == clichain.EventDelta {
				started <- struct{}{}
			}
		}
		failed <- err
	}()
	select {
	case <-started:
	case err := <-failed:
		require.NoError(t, err, "the call ended too early")
	}
	require.Equal(t, 1, p.Close().Ended)
	require.ErrorIs(t, <-failed, live.ErrClosed)
}

// Close may be called while calls start, run and end; no process is left.
func TestPoolCloseDuringCalls(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		p, b := pooled(t, dialects[i%len(dialects)], "", patient, &live.PoolConfig{Size: 3})
		var running sync.WaitGroup
		for _, text := range []string{"say x", "cut it", "hang"} {
			running.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_, _ = b.Complete(ctx, clichain.Prompt(text)) // the call may have come too late
			})
		}
		require.Eventually(t, func() bool { return p.Stats().Started >= i%4 }, time.Minute, time.Millisecond)
		require.Empty(t, p.Close().Left)
		running.Wait()
		require.Empty(t, clitest.Survivors(b.(interface{ Config() clichain.Config }).Config().Binary))
	}
}
