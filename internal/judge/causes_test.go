package judge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/proc"
)

// The cause with which a run was stopped has a reason. Unknown causes are a cancellation.
func TestReasonOfCause(t *testing.T) {
	for name, test := range map[string]struct {
		cause error
		want  call.Reason
	}{
		"time without events":  {&Stop{Reason: call.ReasonIdleTimeout}, call.ReasonIdleTimeout},
		"stop of a timeout":    {&Stop{Reason: call.ReasonTimeout}, call.ReasonTimeout},
		"panic of a writer":    {&proc.PanicError{Value: "oops"}, call.ReasonBadOutput},
		"too much output":      {proc.ErrOutputLimit, call.ReasonOutputLimit},
		"exit code was lost":   {proc.ErrReapLost, call.ReasonExit},
		"deadline":             {context.DeadlineExceeded, call.ReasonTimeout},
		"cancellation":         {context.Canceled, call.ReasonCanceled},
		"killed on request":    {proc.ErrKilled, call.ReasonCanceled},
		"error of the caller":  {errors.New("own"), call.ReasonCanceled},
		"wrapped time limit":   {errors.Join(errors.New("own"), &Stop{Reason: call.ReasonIdleTimeout}), call.ReasonIdleTimeout},
		"wrapped output limit": {errors.Join(errors.New("own"), proc.ErrOutputLimit), call.ReasonOutputLimit},
	} {
		require.Equal(t, test.want, ReasonOfCause(test.cause), name)
	}
}

// A Stop matches the sentinel of its reason, and a timeout also context.DeadlineExceeded.
func TestStop(t *testing.T) {
	idle := &Stop{Reason: call.ReasonIdleTimeout, After: 1234567 * time.Microsecond}
	timeout := &Stop{Reason: call.ReasonTimeout}
	require.EqualError(t, idle, "idle_timeout after 1.235s")
	require.ErrorIs(t, idle, call.ErrIdleTimeout)
	require.NotErrorIs(t, idle, call.ErrTimeout)
	require.NotErrorIs(t, idle, context.DeadlineExceeded)
	require.ErrorIs(t, timeout, call.ErrTimeout)
	require.ErrorIs(t, timeout, context.DeadlineExceeded)
	require.NotErrorIs(t, timeout, context.Canceled)
}

// The end of Within is a timeout, as is that of a deadline of the caller.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := Within(t.Context(), time.Minute)
		defer cancel()
		<-ctx.Done()
		require.Equal(t, &Stop{Reason: call.ReasonTimeout, After: time.Minute}, End(ctx))
	})
}

// uncomparable is an error whose values cannot be compared.
type uncomparable []string

func (u uncomparable) Error() string { return u[0] }

// The end of a context has its cause and shows whether it was a deadline.
func TestEndOfContext(t *testing.T) {
	own, other := errors.New("own"), errors.New("other")
	canceled := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		return ctx
	}
	late, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(-time.Hour), own)
	defer cancel()
	require.NoError(t, End(context.Background()))
	require.Equal(t, context.Canceled, End(canceled(nil)))
	for _, err := range []error{End(canceled(own)), Ended(canceled(own), own)} {
		require.EqualError(t, err, "own")
		require.ErrorIs(t, err, own)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	}
	require.ErrorIs(t, End(late), own)
	require.ErrorIs(t, End(late), context.DeadlineExceeded)
	timeout := &Stop{Reason: call.ReasonTimeout}
	require.Equal(t, timeout, End(canceled(timeout)), "the cause shows the deadline")

	require.NoError(t, Ended(canceled(own), nil))
	require.Equal(t, other, Ended(canceled(own), other), "another cause")
	require.Equal(t, other, Ended(context.Background(), other), "a context that has not ended")
	require.ErrorIs(t, Ended(canceled(uncomparable{"own"}), uncomparable{"own"}), context.Canceled)
	require.Equal(t, other, Ended(canceled(uncomparable{"own"}), other), "another type")
}
