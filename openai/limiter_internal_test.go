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
	l := newLimiter(&Config{Concurrency: 1})
	for range maxWaiting + 1 {
		_, err := l.admit()
		require.Nil(t, err)
	}
	_, err := l.admit()
	require.NotNil(t, err)
	require.Equal(t, 429, err.Status)
	require.Equal(t, "rate_limit_exceeded", err.Label())
}

// TestLimiterWaits checks that a request waits for a slot for at most a minute, or until its client disconnects.
func TestLimiterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(&Config{Concurrency: 1})
		end, err := l.acquire(t.Context())
		require.Nil(t, err)
		began := time.Now()
		_, err = l.acquire(t.Context())
		require.Equal(t, maxWait, time.Since(began))
		require.Equal(t, 429, err.Status)
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
