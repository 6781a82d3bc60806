package jetstream_test

import (
	"context"
	"fmt"
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
