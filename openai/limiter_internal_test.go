package openai

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLimiterRefuses checks that the limiter refuses a request immediately if too many requests wait.
func TestLimiterRefuses(t *testing.T) {
	l := newLimiter((&Config{Concurrency: 1, MaxWaiting: 3}).withDefaults())
	for range 3 + 1 {
		_, err := l.admit()
		require.Nil(t, err)
	}
	_, err := l.admit()
	require.NotNil(t, err)
	require.Equal(t, 503, err.Status)
	require.Equal(t, "server_busy", err.Label())
	require.Contains(t, err.Message, "3 requests wait already: ask again later, or raise Config.MaxWaiting")
	l = newLimiter((&Config{Concurrency: 1, MaxWaiting: -1}).withDefaults())
	_, err = l.admit()
	require.Nil(t, err)
	_, err = l.admit()
	require.NotNil(t, err)
}

// TestLimiterWaits checks that a request waits for a slot for at most a minute, or until its client disconnects.
func TestLimiterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter((&Config{Concurrency: 1, MaxWaiting: 3}).withDefaults())
		end, err := l.acquire(t.Context())
		require.Nil(t, err)
		began := time.Now()
		_, err = l.acquire(t.Context())
		require.Equal(t, maxWait, time.Since(began))
		require.Equal(t, 503, err.Status)
		require.False(t, err.RetryAfter.IsZero())
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err = l.acquire(ctx)
		require.Equal(t, maxWait+time.Second, time.Since(began))
		require.NotNil(t, err)
		end()
		end, err = l.acquire(t.Context())
		require.Nil(t, err)
		end()
	})
}
