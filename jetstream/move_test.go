package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

func TestMoveKeepsJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	first, second := job("first"), job("second")
	second.Owner, second.Priority = "alice", jetstream.PriorityLow
	large := job("large")
	large.Request.Messages[0].Content = string(make([]byte, 2<<20))
	submit(t, q, first, second, large)
	for range 2 {
		require.NoError(t, o.Move(t.Context(), "second", jetstream.PriorityHigh))
	}
	require.NoError(t, o.Move(t.Context(), "large", jetstream.PriorityLow))
	require.ErrorIs(t, q.Submit(t.Context(), second), jetstream.ErrExists)
	require.Equal(t, 1, jetstream.Payloads(t.Context(), q))
	for i, err := range o.Jobs(t.Context(), jetstream.Selection{Owner: "alice"}) {
		require.NoError(t, err)
		require.Equal(t, jetstream.PriorityHigh, i.Priority)
		require.Equal(t, jetstream.StateWaiting, i.State)
	}
	require.ErrorIs(t, o.Move(t.Context(), "none", jetstream.PriorityHigh), jetstream.ErrNotFound)
	require.ErrorContains(t, o.Move(t.Context(), "first", "soon"), "priority")
	order := make(chan string, 3)
	work(t, q, echo(), &jetstream.WorkConfig{OnStart: func(j *jetstream.Job) { order <- j.ID }})
	require.Equal(t, "alice", collect(t, q, 3)["second"].Owner)
	require.Equal(t, []string{"second", "first", "large"}, []string{<-order, <-order, <-order})
	require.ErrorIs(t, o.Move(t.Context(), "first", jetstream.PriorityHigh), jetstream.ErrFinished)
}

func TestMoveLeavesRunningJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	b, started, release := blocking()
	submit(t, q, job("a"))
	work(t, q, b, nil)
	<-started
	require.ErrorIs(t, jetstream.NewOperator(q).Move(t.Context(), "a", jetstream.PriorityHigh), jetstream.ErrRunning)
	close(release)
	require.NotNil(t, collect(t, q, 1)["a"].Response)
}

// TestMoveParkedJob checks that a moved job keeps the time for which it waits.
func TestMoveParkedJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	work(t, q, noCooldown(failing(1, clichain.BackendError{Reason: clichain.ReasonOverloaded})), nil)
	parked := jetstream.Selection{State: jetstream.StateParked}
	require.Eventually(t, func() bool { return len(jobsOf(t, q, parked)) == 1 }, limit, time.Millisecond)
	require.NoError(t, jetstream.NewOperator(q).Move(t.Context(), "a", jetstream.PriorityHigh))
	r := collect(t, q, 1)["a"]
	require.Equal(t, "at last", r.Response.Text)
	require.Len(t, r.History, 1)
	awaitEmpty(t, q)
}

func awaitEmpty(t *testing.T, q *jetstream.Queue) {
	t.Helper()
	require.Eventually(t, func() bool { return len(jobsOf(t, q, jetstream.Selection{})) == 0 }, limit, 10*time.Millisecond)
}

// runsOf counts how often each job runs.
type runsOf struct {
	mu   sync.Mutex
	runs map[string]int
}

func (r *runsOf) start(j *jetstream.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[string]int{}
	}
	r.runs[j.ID]++
}

// TestMoveIsInterrupted kills an operator after each step of a move. The job runs once.
func TestMoveIsInterrupted(t *testing.T) {
	t.Parallel()
	for steps := range 4 {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d steps, taken %v", steps, taken), func(t *testing.T) {
				t.Parallel()
				q := open(t, embed(t), &jetstream.Config{AckWait: time.Second})
				submit(t, q, job("a"))
				var runs runsOf
				slow := backend(func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
					timer := time.NewTimer(3 * time.Second) // longer than the lease
					defer timer.Stop()
					select {
					case <-timer.C:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					return &clichain.Response{Text: "answer"}, nil
				})
				begin := func() {
					for range 2 {
						work(t, q, slow, &jetstream.WorkConfig{OnStart: runs.start})
					}
				}
				err := jetstream.MoveSteps(t.Context(), q, "a", jetstream.PriorityHigh, steps, func() {
					if taken {
						begin()
						require.Eventually(t, func() bool { runs.mu.Lock(); defer runs.mu.Unlock(); return runs.runs["a"] == 1 }, limit, time.Millisecond)
					}
				})
				require.NoError(t, err)
				if !taken {
					begin()
				}
				require.NotNil(t, collect(t, q, 1)["a"].Response)
				awaitEmpty(t, q)
				runs.mu.Lock()
				defer runs.mu.Unlock()
				require.Equal(t, 1, runs.runs["a"])
			})
		}
	}
}

// TestMoveRacesWithWorkers moves jobs, with two operators, while workers answer them. Each job runs once.
func TestMoveRacesWithWorkers(t *testing.T) {
	t.Parallel()
	const jobs = 150
	q := open(t, embed(t), &jetstream.Config{AckWait: 2 * time.Second})
	for i := range jobs {
		submit(t, q, job(fmt.Sprint(i)))
	}
	var runs runsOf
	for range 2 {
		work(t, q, echo(), &jetstream.WorkConfig{Slots: 2, OnStart: runs.start})
	}
	var operators sync.WaitGroup
	for n, to := range []jetstream.Priority{jetstream.PriorityHigh, jetstream.PriorityLow} {
		operators.Go(func() {
			for i := range jobs {
				id := fmt.Sprint(i)
				if n == 1 {
					id = fmt.Sprint(jobs - 1 - i)
				}
				err := jetstream.NewOperator(q).Move(t.Context(), id, to)
				if err != nil && err != jetstream.ErrFinished && err != jetstream.ErrRunning {
					t.Errorf("move %s: %v", id, err)
				}
			}
		})
	}
	collect(t, q, jobs)
	operators.Wait()
	awaitEmpty(t, q)
	runs.mu.Lock()
	defer runs.mu.Unlock()
	for id, n := range runs.runs {
		require.Equal(t, 1, n, id)
	}
}

// TestParkedJobIsDeliveredOnce changes a parked job before its time, and removes its result. The server must not deliver
// its old message when the time comes. The time of another job comes later.
func TestParkedJobIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason clichain.Reason
		change func(ctx context.Context, q *jetstream.Queue) error
		runs   int
	}{
		"unscheduled": {reason: clichain.ReasonUsageLimit, runs: 1},
		"moved": {reason: clichain.ReasonOverloaded, runs: 1, change: func(ctx context.Context, q *jetstream.Queue) error {
			return jetstream.NewOperator(q).Move(ctx, "a", jetstream.PriorityHigh)
		}},
		"canceled": {reason: clichain.ReasonOverloaded, change: func(ctx context.Context, q *jetstream.Queue) error {
			return errors.Join(jetstream.NewOperator(q).Cancel(ctx, "a"), q.Drop(ctx, "a"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			a, due := job("a"), time.Now().Add(2*time.Second)
			a.Request.Messages[0].Content = strings.Repeat("x", 2<<20)
			require.NoError(t, jetstream.Park(t.Context(), q, a, test.reason, due))
			if test.change != nil {
				require.NoError(t, test.change(t.Context(), q))
			}
			require.NoError(t, jetstream.Park(t.Context(), q, job("last"), clichain.ReasonOverloaded, due.Add(time.Second)))
			var runs runsOf
			work(t, q, echo(), &jetstream.WorkConfig{OnStart: runs.start, OnEnd: func(j *jetstream.Job) {
				if j.ID == "a" {
					_, err := jetstream.Purge(t.Context(), q, jetstream.PurgeFilter{IDPrefix: "a"})
					require.NoError(t, err)
				}
			}})
			require.Eventually(t, func() bool { _, err := q.Result(t.Context(), "last"); return err == nil }, limit, time.Millisecond)
			awaitEmpty(t, q)
			runs.mu.Lock()
			defer runs.mu.Unlock()
			require.Equal(t, test.runs, runs.runs["a"])
			require.Zero(t, jetstream.Payloads(t.Context(), q))
		})
	}
}

// The next worker removes the old message that an interrupted worker has left.
func TestUnscheduleIsInterrupted(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	require.NoError(t, jetstream.Park(t.Context(), q, job("a"), clichain.ReasonUsageLimit, time.Now().Add(time.Hour)))
	require.NoError(t, jetstream.UnscheduleStep(t.Context(), q, "a"))
	require.NoError(t, jetstream.NewOperator(q).Pause(t.Context(), jetstream.Pause{}))
	work(t, q, echo(), nil)
	parked := jetstream.Selection{State: jetstream.StateParked}
	require.Eventually(t, func() bool { return len(jobsOf(t, q, parked)) == 0 }, limit, time.Millisecond)
	require.NoError(t, jetstream.NewOperator(q).Resume(t.Context(), ""))
	require.NotNil(t, collect(t, q, 1)["a"].Response)
	awaitEmpty(t, q)
}

// A client that removes a parked job after the server has published it does not remove the payload that it still needs.
func TestRemovalOfPublishedJobKeepsPayload(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	a := job("a")
	a.Request.Messages[0].Content = strings.Repeat("x", 2<<20)
	require.NoError(t, jetstream.Park(t.Context(), q, a, clichain.ReasonOverloaded, time.Now().Add(time.Second)))
	remove, err := jetstream.RemoveLater(t.Context(), q, "a")
	require.NoError(t, err)
	waiting := jetstream.Selection{State: jetstream.StateWaiting}
	require.Eventually(t, func() bool { return len(jobsOf(t, q, waiting)) == 1 }, limit, time.Millisecond)
	require.NoError(t, remove())
	work(t, q, echo(), nil)
	require.NotNil(t, collect(t, q, 1)["a"].Response)
}
