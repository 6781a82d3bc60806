package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// After three failures, the pool starts no process of the kind for a while, longer each time. It forgets
// failures one by one.
func TestPoolBreakerDelaysStartsAfterFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(nil, nil)
		state := func() kind {
			p.mu.Lock()
			defer p.mu.Unlock()
			return *p.kindOf("k")
		}
		closedFor := func() time.Duration { return max(time.Until(state().until), 0) }
		for range breakAfter - 1 {
			p.failed("k")
		}
		require.Zero(t, closedFor())
		p.failed("k")
		require.Equal(t, 30*time.Second, closedFor())
		p.failed("k")
		require.Equal(t, time.Minute, closedFor())
		for range 20 {
			p.failed("k")
		}
		require.Equal(t, maxBreak, closedFor())

		p = NewPool(nil, nil)
		p.failed("k")
		p.failed("k")
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, 1, state().failures)
		p.failed("k")
		require.Zero(t, closedFor(), "one failure was forgotten")
		time.Sleep(time.Hour)
		require.Zero(t, state().failures)
	})
}
