package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// canceledAt sends a request whose turn hangs, and cancels it with a cause after the turn has begun.
func canceledAt(t *testing.T, b clichain.Backend, text string, cause error) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var failed error
	for e, err := range b.Stream(ctx, clichain.Prompt(text)) {
		if failed = err; e.Kind == clichain.EventDelta {
			cancel(cause)
		}
	}
	return failed
}

// No cold call follows a call whose context has ended, whatever the result of its turn.
func TestPoolNoColdCallAfterCancel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		p, b := pooled(t, dialect, coldAgent, patient, nil)
		requireReason(t, clichain.ReasonTimeout, canceledAt(t, b, "hang 529 overloaded", context.DeadlineExceeded))
		requireReason(t, clichain.ReasonCanceled, canceledAt(t, b, "hang", context.Canceled))
		require.Equal(t, 2, p.Stats().Warm)
		require.Zero(t, p.Stats().Cold)
	})
}

// No cold call follows a call that Close ends while its process starts.
func TestPoolNoColdCallAfterClose(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent+", silent", patient, nil)
	failed := make(chan error, 1)
	go func() {
		_, err := b.Complete(context.Background(), clichain.Prompt("say x"))
		failed <- err
	}()
	program := b.(interface{ Config() clichain.Config }).Config().Binary
	require.Eventually(t, func() bool { return len(clitest.Survivors(program)) > 0 }, time.Minute, time.Millisecond)
	p.Close()
	require.ErrorIs(t, <-failed, live.ErrClosed)
	require.Zero(t, p.Stats().Cold)
}

// A process that has started after Close has begun is killed.
func TestPoolKillsProcessThatStartsDuringClose(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	provider := startsAtOnce(t)
	p := live.NewPool([]*clichain.Provider{provider}, nil)
	live.StartDuringClose(t.Context(), p, clichain.Prompt("say x"))
	require.Empty(t, clitest.Survivors(provider.Config().Binary))
	require.Empty(t, p.Close().Left)
}

// startsAtOnce returns a backend whose process is ready as soon as it runs.
func startsAtOnce(t *testing.T) *clichain.Provider {
	t.Helper()
	base := agentOf(t, "control", "", patient)
	spec, cfg := base.Spec(), base.Config()
	spec.Live.Ready = nil
	return clichain.NewProvider(spec, &cfg)
}

// A process that refuses to interrupt its turn is ended, and so is the session.
func TestFailedInterruptEndsProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		s := started(t, dialect, "goes on", nil)
		hang(t, s)
		require.NoError(t, s.Interrupt(t.Context()))
		require.Eventually(t, func() bool { return s.Status().State == live.Error }, time.Minute, time.Millisecond)
	})
	t.Run("pool", func(t *testing.T) {
		p, b := pooled(t, "threads", coldAgent+", goes on", patient, nil)
		for range 4 { // more than the breaker would allow
			requireReason(t, clichain.ReasonCanceled, canceledAt(t, b, "hang", context.Canceled))
		}
		resp, err := b.Complete(t.Context(), clichain.Prompt("say x"))
		require.NoError(t, err)
		require.Equal(t, "x", resp.Text)
		idle(t, b, p)
		require.Equal(t, live.Stats{Processes: 1, Started: 5, Warm: 5}, p.Stats())
	})
}

// A success resets the breaker, which counts consecutive failures.
func TestSessionBreakerIsResetBySuccess(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent, patient, nil)
	for _, text := range []string{"cut 1", "cut 2", "say x", "cut 3", "cut 4", "say y"} {
		resp, err := b.Complete(t.Context(), clichain.Prompt(text))
		require.NoError(t, err)
		require.NotEmpty(t, resp.Text)
		idle(t, b, p)
	}
	require.Equal(t, live.Stats{Processes: 1, Started: 5, Warm: 2, Cold: 4}, p.Stats())
}
