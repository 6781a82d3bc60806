package jetstream_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
)

// failing fails a number of times in a row, and then answers.
func failing(times int, err clichain.BackendError) clichain.Backend {
	var runs atomic.Int64
	return backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		if runs.Add(1) <= int64(times) {
			return nil, &err
		}
		return &clichain.Response{Text: "at last"}, nil
	})
}

func noCooldown(b clichain.Backend) clichain.Backend {
	return clichain.ChainOf([]clichain.Backend{b}, &clichain.ChainConfig{NoCooldown: true})
}

// After a failure the job is delivered again, or becomes a dead letter with its history.
func TestWhatFollowsAFailure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		fails      int
		err        clichain.BackendError
		access     clichain.Access
		idempotent bool
		answered   bool
		deliveries int // before the last
	}{
		{name: "fault of the request", fails: 9, err: clichain.BackendError{Reason: clichain.ReasonBadRequest}},
		{name: "temporary failure", fails: 1, err: clichain.BackendError{Reason: clichain.ReasonOverloaded}, answered: true, deliveries: 1},
		{name: "temporary failure for too long", fails: 9, err: clichain.BackendError{Reason: clichain.ReasonOverloaded}, deliveries: 1},
		{name: "permanent failure", fails: 9, err: clichain.BackendError{Reason: clichain.ReasonExit}},
		{name: "failure of this machine", fails: 1, err: clichain.BackendError{Reason: clichain.ReasonSpawn}, answered: true, deliveries: 1},
		{
			name: "possible side effects", fails: 9, access: clichain.AccessWrite,
			err: clichain.BackendError{Reason: clichain.ReasonTimeout, SideEffects: true},
		},
		{
			name: "write access without side effects", fails: 1, access: clichain.AccessWrite,
			err: clichain.BackendError{Reason: clichain.ReasonOverloaded}, answered: true, deliveries: 1,
		},
		{
			name: "idempotent job with side effects", fails: 1, access: clichain.AccessWrite, idempotent: true,
			err: clichain.BackendError{Reason: clichain.ReasonTimeout, SideEffects: true}, answered: true, deliveries: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{MaxDeliver: 2})
			j := job("a")
			j.Request.Access, j.Idempotent = test.access, test.idempotent
			submit(t, q, j)
			work(t, q, noCooldown(failing(test.fails, test.err)), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessFull}})
			r := collect(t, q, 1)["a"]
			require.Len(t, r.History, test.deliveries)
			for _, d := range r.History {
				require.Equal(t, test.err.Reason, d.Reason)
				require.NotEmpty(t, d.Worker)
				require.False(t, d.Until.IsZero())
			}
			if test.answered {
				require.NotNil(t, r.Response)
				return
			}
			require.Equal(t, test.err.Reason, r.Failure.Reason)
			require.Equal(t, test.err.SideEffects, r.Failure.SideEffects)
			require.Equal(t, j.Request, r.Job.Request)
			require.NotEmpty(t, r.Failure.Attempts)
		})
	}
}

// One of several CLIs is installed and fails permanently. The missing CLIs do not make the job run again.
func TestMissingBackendsCauseNoRetry(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	missing := clichain.BackendFunc("missing", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonNotInstalled, Stage: call.StageSkipped}
	})
	broken := failing(9, clichain.BackendError{Reason: clichain.ReasonExit, Stage: call.StageStarted})
	work(t, q, clichain.ChainOf([]clichain.Backend{missing, broken}, &clichain.ChainConfig{NoCooldown: true}), nil)
	submit(t, q, job("a"))
	r := collect(t, q, 1)["a"]
	require.Equal(t, clichain.ReasonExit, r.Failure.Reason)
	require.Empty(t, r.History)
}

// A limit parks the job until it ends: the job does not run earlier, and that is no failure.
func TestLimitParksTheJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	end := time.Now().Add(3 * time.Second)
	var parked atomic.Pointer[jetstream.Delivery]
	var second time.Time
	limited := failing(1, clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: end})
	answer := backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		second = time.Now()
		return limited.Complete(ctx, req)
	})
	work(t, q, noCooldown(answer), &jetstream.WorkConfig{
		OnPark: func(_ *jetstream.Job, d jetstream.Delivery) { parked.Store(&d) },
	})
	submit(t, q, job("a"))
	require.Eventually(t, func() bool { return parked.Load() != nil }, limit, time.Millisecond)
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && s.Parked == 1 && s.NextDue.Sub(end).Abs() < time.Second || time.Now().After(end)
	}, limit, 20*time.Millisecond)
	if time.Now().Before(end) { // a slow machine may be too late to see the state
		require.ErrorIs(t, q.Submit(t.Context(), job("a")), jetstream.ErrExists)
	}
	r := collect(t, q, 1)["a"]
	require.NotNil(t, r.Response)
	require.Equal(t, clichain.ReasonUsageLimit, parked.Load().Reason)
	require.False(t, second.Before(end), "it ran %v before the limit's end", end.Sub(second))
}

// While the only backend is in cooldown, workers take no jobs.
func TestWorkersWaitInCooldown(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	end := time.Now().Add(4 * time.Second)
	var runs atomic.Int64
	rested := make(chan time.Time, 10)
	limited := failing(1, clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: end})
	counted := backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		runs.Add(1)
		return limited.Complete(ctx, req)
	})
	work(t, q, clichain.ChainOf([]clichain.Backend{counted}, nil), &jetstream.WorkConfig{
		OnRest: func(until time.Time) { rested <- until },
	})
	submit(t, q, job("a"))
	until := <-rested
	require.False(t, until.Before(end.Add(-time.Second)))
	submit(t, q, job("b"), job("c"))
	// The server counts jobs a moment after it has stored them.
	require.Eventually(t, func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Ready[jetstream.PriorityNormal] == 3 || time.Now().After(end)
	}, limit, time.Millisecond)
	got := collect(t, q, 3)
	require.Empty(t, got["b"].History)
	require.Empty(t, got["c"].History)
	require.EqualValues(t, 4, runs.Load())
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	past, short, limited := job("past"), job("short"), job("limited")
	past.Deadline = time.Now().Add(-time.Second)
	short.Deadline = time.Now().Add(2 * time.Second)
	limited.Deadline = time.Now().Add(limit)
	submit(t, q, past, short, limited)
	work(t, q, noCooldown(backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Messages[0].Content == "prompt of limited" {
			return nil, &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour)}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})), &jetstream.WorkConfig{Slots: 3})
	got := collect(t, q, 3)
	require.Equal(t, clichain.ReasonTimeout, got["past"].Failure.Reason)
	require.Contains(t, got["past"].Failure.Message, "before the job began")
	require.Equal(t, clichain.ReasonTimeout, got["short"].Failure.Reason)
	require.Equal(t, clichain.ReasonUsageLimit, got["limited"].Failure.Reason)
	require.Contains(t, got["limited"].Failure.Message, "deadline is before")
}

// A dead letter can be retried and dropped.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"), job("b"))
	var well atomic.Bool
	work(t, q, noCooldown(backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if !well.Load() {
			return nil, &clichain.BackendError{Reason: clichain.ReasonExit}
		}
		return &clichain.Response{Text: "well"}, nil
	})), nil)
	collect(t, q, 2)
	var dead []string
	for r, err := range q.Dead(t.Context()) {
		require.NoError(t, err)
		dead = append(dead, r.ID)
	}
	require.ElementsMatch(t, []string{"a", "b"}, dead)
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, s.Failures)
	require.Equal(t, map[clichain.Reason]int{clichain.ReasonExit: 2}, s.Reasons)

	well.Store(true)
	require.ErrorIs(t, q.Retry(t.Context(), "c"), jetstream.ErrNotFound)
	require.NoError(t, q.Retry(t.Context(), "a"))
	require.NoError(t, q.Drop(t.Context(), "b"))
	require.ErrorIs(t, q.Drop(t.Context(), "b"), jetstream.ErrNotFound)
	require.Equal(t, "well", collect(t, q, 1)["a"].Response.Text)
	for range q.Dead(t.Context()) {
		require.Fail(t, "there is no dead letter left")
	}
}

func TestDropOfAJobThatWaits(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"), job("b"))
	require.NoError(t, q.Drop(t.Context(), "a"))
	work(t, q, echo(), nil)
	collect(t, q, 1)
	_, err := q.Result(t.Context(), "a")
	require.ErrorIs(t, err, jetstream.ErrNotFound)
}

// A retry before the worker has removed the job from the queue waits for the removal. Otherwise the job would be
// lost, because its message exists but is about to be removed.
func TestRetryAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{AckWait: time.Second})
	submit(t, q, job("a"))
	require.NoError(t, jetstream.FailAndVanish(t.Context(), q, job("a"))) // its message exists for a second
	stop := work(t, q, echo(), nil)
	defer stop()
	require.NoError(t, q.Retry(t.Context(), "a"))
	require.NotNil(t, collect(t, q, 1)["a"].Response)
}

// A retry was interrupted after its first step: both the job and the old result exist. The worker removes the result,
// and the job is answered.
func TestInterruptedRetry(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	stop := work(t, q, noCooldown(failing(9, clichain.BackendError{Reason: clichain.ReasonExit})), nil)
	r := collect(t, q, 1)["a"]
	stop()
	require.NoError(t, jetstream.BeginRetry(t.Context(), q, *r.Job, r.Sequence))
	work(t, q, echo(), nil)
	require.Eventually(t, func() bool {
		r, err := q.Result(t.Context(), "a")
		return err == nil && r.Response != nil
	}, limit, 10*time.Millisecond)
}

// An unreadable job becomes a dead letter and is not delivered again.
func TestUnreadableJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	require.NoError(t, jetstream.SubmitNonsense(t.Context(), q))
	work(t, q, echo(), nil)
	for _, r := range collect(t, q, 1) {
		require.Contains(t, r.Failure.Message, "cannot be read")
		require.Equal(t, "nonsense", string(r.Raw))
		require.ErrorIs(t, q.Retry(t.Context(), r.ID), jetstream.ErrNotFound)
		require.NoError(t, q.Drop(t.Context(), r.ID))
	}
	require.Eventually(t, func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Running == 0 && d.Ready[jetstream.PriorityNormal] == 0
	}, limit, 10*time.Millisecond)
}
