package service

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/stretchr/testify/require"
)

func TestParseGrace(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0s": 0, "90s": 90 * time.Second} {
		got, err := ParseGrace(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "30", "-1s"} {
		_, err := ParseGrace(text)
		require.ErrorContains(t, err, "such as 30s, or 0", text)
	}
}

// TestUnlessStopped checks that a signal is not a failure of a worker, and that other errors are.
func TestUnlessStopped(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	failed := errors.New("failed")
	require.ErrorIs(t, UnlessStopped(ctx, failed), failed)
	stop(&console.SignalError{Signal: syscall.SIGTERM})
	require.ErrorIs(t, UnlessStopped(ctx, failed), failed)
	require.NoError(t, UnlessStopped(ctx, context.Cause(ctx)))
	require.NoError(t, UnlessStopped(ctx, console.Fail(console.ExitFailed, context.Canceled)))
	require.NoError(t, UnlessStopped(ctx, nil))
}
