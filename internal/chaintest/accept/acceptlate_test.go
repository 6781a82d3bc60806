package accept_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The check has the share of the backend. A check that ends with its context is a timeout of the attempt, but a check
// with a shorter limit rejects the answer.
func TestAcceptHasDeadlineOfAttempt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		check  func(ctx context.Context) error
		reason clichain.Reason
		took   time.Duration
	}{
		"waits for its context": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, clichain.ReasonTimeout, 15 * time.Second},
		"returns the cause": {func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("x: %w", context.Cause(ctx))
		}, clichain.ReasonTimeout, 15 * time.Second},
		"fails after its context": {func(ctx context.Context) error { <-ctx.Done(); return errShort }, clichain.ReasonRejected, 15 * time.Second},
		"has its own limit": {func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}, clichain.ReasonRejected, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow, next := &chaintest.Backend{ID: "a", Takes: time.Second}, &chaintest.Backend{ID: "b"}
				resp, err := accepting(t, func(ctx context.Context, _ clichain.Request, resp *clichain.Response) error {
					deadline, ok := ctx.Deadline()
					require.True(t, ok)
					if resp.Backend == "b" {
						return nil
					}
					require.Equal(t, 14*time.Second, time.Until(deadline), "5 of the 20 seconds are for the next backend")
					return test.check(ctx)
				}, clichain.Prompt("hi"), clichain.ChainConfig{Budget: 20 * time.Second}, slow, next)
				require.NoError(t, err)
				require.Equal(t, "b", resp.Backend)
				be := chaintest.RequireReason(t, test.reason, resp.Attempts[0].Err)
				require.Equal(t, "from a", be.Partial)
				require.Equal(t, test.took, resp.Attempts[0].Duration)
				require.Equal(t, test.reason == clichain.ReasonTimeout, errors.Is(be, clichain.ErrTimeout))
			})
		})
	}
}

// If the caller cancels the call during the check, the call is canceled and no other backend is asked.
func TestCallerCancelsDuringAccept(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	ctx, cancel := context.WithCancelCause(t.Context())
	next := &chaintest.Backend{ID: "b"}
	_, err := clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "a"}, next}, &clichain.ChainConfig{
		Accept: func(ctx context.Context, _ clichain.Request, _ *clichain.Response) error {
			cancel(mine)
			<-ctx.Done()
			return ctx.Err()
		},
	}).Complete(ctx, clichain.Prompt("hi"))
	failed, _ := errors.AsType[*clichain.ChainError](err)
	require.Equal(t, clichain.ReasonCanceled, failed.Reason())
	require.ErrorIs(t, err, mine)
	require.Zero(t, next.Asked)
}

// A rejected answer, and a check that takes too long, start no cooldown. They clear the failures of the backend.
func TestRejectionStartsNoCooldown(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(context.Context) error{
		"rejected":   func(context.Context) error { return errShort },
		"timed out":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"another's":  func(context.Context) error { return fmt.Errorf("the judge: %w", clichain.ErrUsageLimit) },
		"a panicked": func(context.Context) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := chaintest.Failing("a", clichain.ReasonUsageLimit)
				c := clichain.ChainOf([]clichain.Backend{b}, &clichain.ChainConfig{
					Budget: 20 * time.Second,
					Accept: func(ctx context.Context, _ clichain.Request, _ *clichain.Response) error { return check(ctx) },
				})
				_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.ErrorIs(t, err, clichain.ErrUsageLimit)
				time.Sleep(time.Hour)
				b.Err = nil
				for range 5 { // the first one is the half-open probe
					_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
					require.Error(t, err)
					require.NotErrorIs(t, err, clichain.ErrCoolingDown)
				}
				require.Equal(t, 6, b.Asked)
				state, err := chaintest.StoreOf(c).Load(t.Context(), chaintest.CooldownKey(b, ""))
				require.NoError(t, err)
				require.Zero(t, state)
			})
		})
	}
}

// A backend of another package can refuse its own answer with the reason. It starts no cooldown either.
func TestBackendRejectsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	b := &chaintest.Backend{ID: "a", Err: &clichain.BackendError{Backend: "a", Reason: clichain.ReasonRejected}}
	c := clichain.ChainOf([]clichain.Backend{b, &chaintest.Backend{ID: "b"}}, nil)
	for range 4 {
		resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "b", resp.Backend)
	}
	require.Equal(t, 4, b.Asked)
}

// A nil pointer in an error is not nil, and its method Error panics.
func TestAcceptReturnsNilPointer(t *testing.T) {
	t.Parallel()
	_, err := accepting(t, func(context.Context, clichain.Request, *clichain.Response) error {
		return (*clichain.BackendError)(nil)
	}, clichain.Prompt("hi"), clichain.ChainConfig{}, &chaintest.Backend{ID: "a"})
	require.ErrorIs(t, err, clichain.ErrRejected)
	require.ErrorContains(t, err, "the check panicked: runtime error: invalid memory address")
}

// The answer of a backend that started early is checked too.
func TestAcceptChecksEarlyStart(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, chaintest.SlowToEnd())
	resp, err := accepting(t, refusing("b"), clichain.Prompt("hi"), clichain.ChainConfig{}, p, &chaintest.Backend{ID: "b"}, &chaintest.Backend{ID: "c"})
	require.NoError(t, err)
	require.Equal(t, "from c", resp.Text)
	require.Len(t, resp.Attempts, 2)
	require.Equal(t, clichain.ReasonRateLimited, resp.Attempts[0].Reason)
	require.Equal(t, clichain.ReasonRejected, resp.Attempts[1].Reason)
}
