package jetstream_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
)

// blocking answers when the test releases it, or fails when its context ends.
func blocking() (b clichain.Backend, started chan string, release chan struct{}) {
	started, release = make(chan string, 100), make(chan struct{})
	return backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		text := req.Messages[len(req.Messages)-1].Content
		started <- text
		select {
		case <-release:
			return &clichain.Response{Text: "answer to " + text}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}), started, release
}

// next returns the next job that a worker starts.
func next(t *testing.T, started <-chan string) string {
	t.Helper()
	select {
	case text := <-started:
		return text
	case <-time.After(limit):
		require.Fail(t, "no job was started")
		return ""
	}
}

func jobsOf(t *testing.T, q *jetstream.Queue, want jetstream.Selection) (list []string) {
	t.Helper()
	for i, err := range jetstream.NewOperator(q).Jobs(t.Context(), want) {
		require.NoError(t, err)
		list = append(list, i.ID+" "+string(i.State))
	}
	return list
}

func TestOperatorListsJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("dead"))
	stop := work(t, q, noCooldown(failing(1, clichain.BackendError{Reason: clichain.ReasonExit})), nil)
	collect(t, q, 1)
	stop()
	submit(t, q, job("parked"))
	stop = work(t, q, noCooldown(failing(1, clichain.BackendError{Reason: clichain.ReasonOverloaded})), nil)
	require.Eventually(t, func() bool { return len(jobsOf(t, q, jetstream.Selection{State: jetstream.StateParked})) == 1 }, limit, time.Millisecond)
	stop()
	b, started, release := blocking()
	defer close(release)
	submit(t, q, job("b1.running"))
	work(t, q, b, nil)
	<-started
	of := job("b1.waiting")
	of.Owner, of.Priority = "alice", jetstream.PriorityLow
	high := job("b2.high")
	high.Owner, high.Priority = "alice", jetstream.PriorityHigh
	submit(t, q, of, high)
	for name, test := range map[string]struct {
		want jetstream.Selection
		list []string
	}{
		"all":              {jetstream.Selection{}, []string{"parked parked", "b1.running running", "b1.waiting waiting", "b2.high waiting", "dead dead"}},
		"owner":            {jetstream.Selection{Owner: "alice"}, []string{"b2.high waiting", "b1.waiting waiting"}},
		"batch":            {jetstream.Selection{Batch: "b1"}, []string{"b1.running running", "b1.waiting waiting"}},
		"running":          {jetstream.Selection{State: jetstream.StateRunning}, []string{"b1.running running"}},
		"dead":             {jetstream.Selection{State: jetstream.StateDead}, []string{"dead dead"}},
		"reason":           {jetstream.Selection{Reason: clichain.ReasonExit}, []string{"dead dead"}},
		"reason to wait":   {jetstream.Selection{Reason: clichain.ReasonOverloaded}, []string{"parked parked"}},
		"owner and state":  {jetstream.Selection{Owner: "alice", State: jetstream.StateParked}, nil},
		"unknown owner":    {jetstream.Selection{Owner: "bob"}, nil},
		"state and reason": {jetstream.Selection{State: jetstream.StateDead, Reason: clichain.ReasonTimeout}, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.list, jobsOf(t, q, test.want)) })
	}
	for _, err := range jetstream.NewOperator(q).Jobs(t.Context(), jetstream.Selection{Owner: "Al ice"}) {
		require.ErrorContains(t, err, "owner")
	}
}

func TestCancelWaitingJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	large := job("large")
	large.Request.Messages[0].Content = string(make([]byte, 2<<20))
	submit(t, q, job("a"), large)
	waited := make(chan *jetstream.Result, 1)
	go func() {
		r, _ := q.Wait(t.Context(), "a")
		waited <- r
	}()
	for range 2 {
		require.NoError(t, o.Cancel(t.Context(), "a"))
	}
	require.NoError(t, o.Cancel(t.Context(), "large"))
	require.Equal(t, clichain.ReasonCanceled, (<-waited).Failure.Reason)
	require.Zero(t, jetstream.Payloads(t.Context(), q)-1, "the result of the large job has its payload")
	require.Equal(t, []string{"a dead", "large dead"}, jobsOf(t, q, jetstream.Selection{}))
	require.ErrorIs(t, o.Cancel(t.Context(), "b"), jetstream.ErrNotFound)

	require.NoError(t, q.Retry(t.Context(), "a"))
	require.NoError(t, q.Drop(t.Context(), "large"))
	work(t, q, echo(), nil)
	require.Equal(t, "echo prompt of a", collect(t, q, 1)["a"].Response.Text)
	require.ErrorIs(t, o.Cancel(t.Context(), "a"), jetstream.ErrFinished)
}

func TestCancelParkedJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	work(t, q, noCooldown(failing(9, clichain.BackendError{Reason: clichain.ReasonOverloaded})), nil)
	require.Eventually(t, func() bool { return len(jobsOf(t, q, jetstream.Selection{State: jetstream.StateParked})) == 1 }, limit, time.Millisecond)
	require.NoError(t, jetstream.NewOperator(q).Cancel(t.Context(), "a"))
	r := collect(t, q, 1)["a"]
	require.Equal(t, clichain.ReasonCanceled, r.Failure.Reason)
	require.Len(t, r.History, 1)
	require.Equal(t, []string{"a dead"}, jobsOf(t, q, jetstream.Selection{}))
}

// TestCancelRunningJob checks that the worker stops the job and continues with the next one.
func TestCancelRunningJob(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"told": false, "not told": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ackWait := 10 * limit // the worker does not find it by itself
			if lost {
				ackWait = time.Second
			}
			q := open(t, embed(t), &jetstream.Config{AckWait: ackWait})
			b, started, release := blocking()
			j := job("a")
			j.Request.Access = clichain.AccessWrite
			submit(t, q, j)
			work(t, q, b, &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessWrite}})
			next(t, started)
			if lost {
				require.NoError(t, jetstream.StoreCanceled(t.Context(), q, "a"))
			} else {
				require.NoError(t, jetstream.NewOperator(q).Cancel(t.Context(), "a"))
			}
			r, err := q.Result(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, clichain.ReasonCanceled, r.Failure.Reason)
			require.True(t, r.Failure.SideEffects)
			submit(t, q, job("b"))
			require.Equal(t, "prompt of b", next(t, started))
			close(release)
			require.NotNil(t, collect(t, q, 2)["b"].Response)
			require.Eventually(t, func() bool { // the worker stores the result of b before b leaves the queue
				return slices.Equal([]string{"a dead"}, jobsOf(t, q, jetstream.Selection{}))
			}, limit, time.Millisecond)
			require.NoError(t, q.Retry(t.Context(), "a"), "its mark is gone")
			require.Eventually(t, func() bool {
				r, err := q.Result(t.Context(), "a")
				return err == nil && r.Response != nil
			}, limit, time.Millisecond)
		})
	}
}

// TestCancelRacesWithWorkers cancels jobs, with two operators, while workers answer them. Each job has one result.
func TestCancelRacesWithWorkers(t *testing.T) {
	t.Parallel()
	const jobs = 200
	q := open(t, embed(t), nil)
	for i := range jobs {
		submit(t, q, job(fmt.Sprint(i)))
	}
	var runs atomic.Int64
	count := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		runs.Add(1)
		return &clichain.Response{Text: "answer"}, nil
	})
	done := make(chan int, 2)
	for range 2 {
		go func() {
			finished := 0
			for i := range jobs {
				if err := jetstream.NewOperator(q).Cancel(t.Context(), fmt.Sprint(jobs-1-i)); err != nil {
					require.ErrorIs(t, err, jetstream.ErrFinished)
					finished++
				}
			}
			done <- finished
		}()
		work(t, q, count, &jetstream.WorkConfig{Slots: 2})
	}
	finished := <-done
	require.Equal(t, finished, <-done, "both operators see the same results")
	answers := 0
	for _, r := range collect(t, q, jobs) {
		if r.Response != nil {
			answers++
		}
	}
	require.Equal(t, finished, answers)
	require.LessOrEqual(t, int64(answers), runs.Load())
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && s.Running+s.Parked+s.Ready[jetstream.PriorityNormal] == 0
	}, limit, time.Millisecond)
}
