package openai

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestEveryReasonHasARow(t *testing.T) {
	require.Len(t, rows, len(call.Reasons()))
	for _, reason := range call.Reasons() {
		require.Contains(t, rows, reason)
	}
}

// TestTooManyWait: beyond those that may wait, a request is refused at once.
func TestTooManyWait(t *testing.T) {
	g := newGate(1)
	for range maxWaiting + 1 {
		_, err := g.enter()
		require.Nil(t, err)
	}
	_, err := g.enter()
	require.NotNil(t, err)
	require.Equal(t, 429, err.status)
	require.Equal(t, "rate_limit_exceeded", err.code())
}

// TestTurnsAreBounded: a request waits for its turn for a minute, or until its client leaves.
func TestTurnsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		end, err := g.begin(t.Context())
		require.Nil(t, err)
		began := time.Now()
		_, err = g.begin(t.Context())
		require.Equal(t, maxWait, time.Since(began))
		require.Equal(t, 429, err.status)
		require.False(t, err.retryAfter.IsZero())
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err = g.begin(ctx)
		require.Equal(t, maxWait+time.Second, time.Since(began))
		require.NotNil(t, err)
		end()
		end, err = g.begin(t.Context())
		require.Nil(t, err)
		end()
	})
}
