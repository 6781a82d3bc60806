package jetstream_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/jetstream"
)

func waits(t *testing.T, q *jetstream.Queue, id string) {
	t.Helper()
	_, err := q.Result(t.Context(), id)
	require.ErrorIs(t, err, jetstream.ErrPending)
}

func TestPauseOutlivesWorkers(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{}))
	submit(t, q, job("a"))
	for range 2 { // a worker, and a later one
		seen := make(chan *jetstream.Pause, 1)
		stop := work(t, q, echo(), &jetstream.WorkConfig{OnPause: func(p *jetstream.Pause) { seen <- p }})
		require.NotNil(t, <-seen)
		waits(t, q, "a")
		stop()
	}
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, s.Pauses, 1)
	require.Zero(t, s.Parked)
	d, err := q.Depth(t.Context())
	require.NoError(t, err)
	require.Zero(t, d.Parked)

	resumed := make(chan *jetstream.Pause, 2)
	work(t, q, echo(), &jetstream.WorkConfig{OnPause: func(p *jetstream.Pause) { resumed <- p }})
	require.NotNil(t, <-resumed)
	for range 2 {
		require.NoError(t, o.Resume(t.Context(), ""))
	}
	require.Nil(t, <-resumed)
	require.NotNil(t, collect(t, q, 1)["a"])
	s, err = q.Status(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Pauses)
}

func TestPauseOfOwner(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{Owner: "alice"}))
	of := job("hers")
	of.Owner = "alice"
	submit(t, q, of, job("mine"))
	work(t, q, echo(), nil)
	require.NotNil(t, collect(t, q, 1)["mine"])
	waits(t, q, "hers")
	require.NoError(t, o.Resume(t.Context(), "alice"))
	require.NotNil(t, collect(t, q, 2)["hers"])
	require.ErrorContains(t, o.Pause(t.Context(), jetstream.Pause{Owner: "Al.ice"}), "owner")
	require.ErrorContains(t, o.Resume(t.Context(), "*"), "owner")
	require.ErrorContains(t, o.Pause(t.Context(), jetstream.Pause{Until: time.Now().Add(-time.Second)}), "until")
}

func TestPauseEnds(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{}))
	until := time.Now().Add(2 * time.Second)
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{Until: until}))
	list, err := o.Pauses(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	submit(t, q, job("a"))
	work(t, q, echo(), nil)
	require.False(t, collect(t, q, 1)["a"].Finished.Before(until))
	list, err = o.Pauses(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
}

// A worker reports another pause, also while all of its slots run jobs, and no pause of an owner.
func TestOnPauseOfBusyWorker(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	o := jetstream.NewOperator(q)
	b, started, release := blocking()
	defer close(release)
	submit(t, q, job("a"))
	seen := make(chan *jetstream.Pause, 1)
	work(t, q, b, &jetstream.WorkConfig{OnPause: func(p *jetstream.Pause) { seen <- p }})
	<-started
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{Owner: "alice"}))
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{}))
	require.Zero(t, (<-seen).Until)
	until := time.Now().Add(time.Hour)
	require.NoError(t, o.Pause(t.Context(), jetstream.Pause{Until: until}))
	require.WithinDuration(t, until, (<-seen).Until, 0)
	require.NoError(t, o.Resume(t.Context(), ""))
	require.Nil(t, <-seen)
}

// TestDrainWaitsForRunningJobs checks that the running job ends, and that no other job starts.
func TestDrainWaitsForRunningJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	b, started, release := blocking()
	submit(t, q, job("a"))
	work(t, q, b, &jetstream.WorkConfig{Slots: 2})
	<-started
	counts := make(chan int, 100)
	drained := make(chan error, 1)
	go func() {
		drained <- jetstream.NewOperator(q).Drain(t.Context(), func(n int) {
			if counts <- n; n == 1 {
				submit(t, q, job("b")) // may start before the worker sees the pause
				close(release)
			}
		})
	}()
	require.NoError(t, <-drained)
	require.NotNil(t, collect(t, q, 1)["a"].Response)
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Running)
	require.Len(t, s.Pauses, 1)
	submit(t, q, job("c"))
	waits(t, q, "c")
}

// TestWorkerDrains checks that a worker with Drain answers what waits, leaves the rest, and returns.
func TestWorkerDrains(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	for _, id := range []string{"a", "b", "c"} {
		submit(t, q, job(id))
	}
	require.NoError(t, q.Work(t.Context(), echo(), &jetstream.WorkConfig{Slots: 2, Drain: true}))
	for _, id := range []string{"a", "b", "c"} {
		r, err := q.Result(t.Context(), id)
		require.NoError(t, err)
		require.NotNil(t, r.Response)
	}
	require.NoError(t, q.Work(t.Context(), echo(), &jetstream.WorkConfig{Drain: true}), "an empty queue")
}
