package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
)

// ended returns a context that has ended with a cause.
func ended(t *testing.T, cause error) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	return ctx
}

// A call that ends while it waits has started nothing.
func TestCallEndsBeforeItsTurn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause   error
		reason  clichain.Reason
		message string
	}{
		"timeout": {&judge.Stop{Reason: clichain.ReasonTimeout}, clichain.ReasonBudgetSpent, "no process was free in time"},
		"close":   {ErrClosed, clichain.ReasonCanceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var failed *clichain.BackendError
			require.ErrorAs(t, (&turn{backend: calling(nil)}).notAsked(ended(t, test.cause)), &failed)
			require.Equal(t, test.reason, failed.Reason)
			require.Equal(t, test.message, failed.Message)
			require.ErrorIs(t, failed, test.cause)
			require.Equal(t, "b", failed.Backend)
			require.Equal(t, -1, failed.ExitCode)
			require.Equal(t, call.StageSkipped, failed.Stage)
		})
	}
	failed := skipped("b", ErrStopped)
	require.Equal(t, -1, failed.ExitCode, "a turn of a session that never began")
	require.Equal(t, call.StageSkipped, failed.Stage)
}

// A process that ends because its call ended has not failed.
func TestPoolBreakerIgnoresEndedCalls(t *testing.T) {
	t.Parallel()
	p := simulated(PoolConfig{})
	one := &process{pool: p, key: "k"}
	(&turn{backend: calling(p)}).processDied(ended(t, context.Canceled), one)
	require.Zero(t, p.kindOf("k").failures)
	(&turn{backend: calling(p)}).processDied(t.Context(), one)
	require.Equal(t, 1, p.kindOf("k").failures)
}

// A call that no process can answer does not wait.
func TestCallGoesColdAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := simulated(PoolConfig{})
		w := p.enter(t.Context(), calling(p), "k", clichain.Request{})
		require.NotNil(t, w.cold)
		require.Nil(t, <-w.given)
	})
}

// A call that ended just before its cold call measures nothing.
func TestCallEndsBeforeItsColdCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked, leftQueue bool
		want             Stats
	}{"in the queue": {}, "in its turn": {asked: true, want: Stats{Warm: 1}}, "after the queue": {leftQueue: true}} {
		t.Run(name, func(t *testing.T) {
			p := simulated(PoolConfig{})
			w := &waiter{name: "b", key: "k"}
			if test.leftQueue {
				p.addCold(w)
			}
			(&turn{backend: calling(p), waits: w, asked: test.asked}).over()
			require.Equal(t, test.want, p.Stats())
			require.Empty(t, p.colds)
			require.Zero(t, *p.paceOf("b"))
		})
	}
}

// The limit of a call begins with the call, not with its process.
func TestCallTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]time.Duration{time.Minute: 40 * time.Second, -1: 0} {
			b := &backend{Provider: clichain.NewProvider(clichain.CliSpec{Name: "b"}, &clichain.Config{Timeout: limit})}
			ctx, cancel := (&turn{backend: b, began: time.Now().Add(-20 * time.Second)}).within(t.Context())
			defer cancel()
			deadline, ok := ctx.Deadline()
			require.Equal(t, want > 0, ok)
			if ok {
				require.Equal(t, want, time.Until(deadline))
			}
		}
	})
}
