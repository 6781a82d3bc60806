package jetstream_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// limited is a backend whose login is at its limit for an hour.
func limited(met *atomic.Int64) clichain.Backend {
	return backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		met.Add(1)
		return nil, &clichain.BackendError{
			Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour), Stage: call.StageStarted,
		}
	})
}

// A job that met the limit of one worker's login is answered by another worker, whether that worker is already there
// or comes later. A job that waits for the end of a limit counts as parked.
func TestLimitOfOneWorkerLeavesJobsToOthers(t *testing.T) {
	t.Parallel()
	for name, noCooldown := range map[string]bool{"with cooldowns": false, "without cooldowns": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
			var met atomic.Int64
			work(t, q, clichain.ChainOf([]clichain.Backend{limited(&met)}, &clichain.ChainConfig{NoCooldown: noCooldown}),
				&jetstream.WorkConfig{Name: "limited"})
			submit(t, q, job("a"))
			require.Eventually(t, func() bool {
				s, err := q.Status(t.Context())
				return err == nil && s.Parked == 1 && s.Ready[jetstream.PriorityNormal] == 0 &&
					s.NextDue.After(time.Now().Add(50*time.Minute))
			}, limit, 20*time.Millisecond)
			w, err := q.Waiting(t.Context(), "a")
			require.NoError(t, err)
			require.True(t, w.Until.After(time.Now().Add(50*time.Minute)))
			require.Contains(t, w.Why, "in cooldown")
			require.EqualValues(t, 1, met.Load())

			work(t, q, echo(), &jetstream.WorkConfig{Name: "free"})
			r := collect(t, q, 1)["a"]
			require.NotNil(t, r.Response)
			require.Equal(t, "free", r.Worker)
			require.Len(t, r.History, 1)
			require.EqualValues(t, 1, met.Load())
		})
	}
}

// A worker whose cooldown is cleared takes its jobs again at once.
func TestClearedCooldownWakesJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	var met atomic.Int64
	full, store := limited(&met), cooldown.NewMemory()
	var well atomic.Bool
	answer := backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if well.Load() {
			return &clichain.Response{Text: "well"}, nil
		}
		return full.Complete(ctx, req)
	})
	keys := &keyStore{Store: store}
	work(t, q, clichain.ChainOf([]clichain.Backend{answer}, &clichain.ChainConfig{Store: keys}), nil)
	submit(t, q, job("a"))
	require.Eventually(t, func() bool { // the worker has returned the job and reported its cooldown
		s, err := q.Status(t.Context())
		return err == nil && s.Parked == 1
	}, limit, 20*time.Millisecond)
	well.Store(true)
	keys.clear(t)
	require.Equal(t, "well", collect(t, q, 1)["a"].Response.Text)
}

// A cooldown that is cleared right after its failure delays no job.
func TestCooldownClearedAtTheFailure(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	var met atomic.Int64
	keys, full := &keyStore{Store: cooldown.NewMemory()}, limited(&met)
	chain := clichain.ChainOf([]clichain.Backend{backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if met.Load() > 0 {
			return &clichain.Response{Text: "well"}, nil
		}
		return full.Complete(ctx, req)
	})}, &clichain.ChainConfig{Store: keys})
	work(t, q, &clearing{chain, func() { keys.clear(t) }}, &jetstream.WorkConfig{Chain: chain})
	submit(t, q, job("a"))
	require.Equal(t, "well", collect(t, q, 1)["a"].Response.Text)
}

// clearing is a chain that clears its cooldowns when its error is read.
type clearing struct {
	*clichain.Chain
	clear func()
}

func (c *clearing) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	resp, err := c.Chain.Complete(ctx, req)
	if err != nil {
		err = &clearingError{err, sync.OnceFunc(c.clear)}
	}
	return resp, err
}

type clearingError struct {
	error
	clear func()
}

func (e *clearingError) Unwrap() error {
	e.clear()
	return e.error
}

// keyStore remembers the keys of a store.
type keyStore struct {
	cooldown.Store
	mu   sync.Mutex
	keys map[string]bool
}

func (s *keyStore) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	err := s.Store.Update(ctx, key, change)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	s.keys[key] = true
	return err
}

func (s *keyStore) clear(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.keys {
		require.NoError(t, s.Store.Update(t.Context(), key, func(cooldown.State) cooldown.State { return cooldown.State{} }))
	}
}

// There are two kinds of workers and of jobs, and one worker is at its limit. No worker waits 2 s while a job that it
// can run is ready.
func TestTwoKindsOfWorkersAreBusy(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	const jobs = 120
	kinds := []string{"one", "two"}
	for i := range jobs {
		j := job(fmt.Sprint(i))
		j.Request.Model = kinds[i%3%2] // two thirds and one third
		if i%5 == 0 {
			j.Priority = jetstream.PriorityHigh
		}
		submit(t, q, j)
	}
	var met atomic.Int64
	began := time.Now()
	work(t, q, clichain.ChainOf([]clichain.Backend{limited(&met)}, nil), &jetstream.WorkConfig{Name: "at its limit"})
	var mu sync.Mutex
	idle := map[string]time.Duration{} // the longest time between two jobs, or before the first
	for _, kind := range kinds {
		free := time.Now()
		work(t, q, only("cli of "+kind, kind, clichain.ReasonModelMismatch), &jetstream.WorkConfig{
			Name: kind,
			OnStart: func(j *jetstream.Job) {
				if j.Request.Model != kind {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				idle[kind] = max(idle[kind], time.Since(free))
			},
			OnResult: func(*jetstream.Result) {
				mu.Lock()
				defer mu.Unlock()
				free = time.Now()
			},
		})
	}
	for id, r := range collect(t, q, jobs) {
		require.Nil(t, r.Failure, id)
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("longest idle times beside ready jobs: %v; the limit was met %d times", idle, met.Load())
	for kind, longest := range idle {
		require.Less(t, longest, 2*time.Second+time.Since(began)/4, "%s: the 120 jobs take 1 s, or longer on a busy machine", kind)
	}
}

// A deadline that one worker cannot meet does not fail a job that another worker can answer in time.
func TestLimitAndDeadline(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	var met atomic.Int64
	work(t, q, clichain.ChainOf([]clichain.Backend{limited(&met)}, nil), nil)
	release := make(chan struct{})
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		<-release
		return &clichain.Response{Text: "x"}, nil
	}), &jetstream.WorkConfig{Name: "busy"})
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && len(s.Workers) == 2
	}, limit, 20*time.Millisecond)
	for i := range 3 {
		j := job(fmt.Sprint(i))
		j.Deadline = time.Now().Add(limit)
		submit(t, q, j)
	}
	require.Eventually(t, func() bool { return met.Load() > 0 }, limit, time.Millisecond)
	close(release)
	for id, r := range collect(t, q, 3) {
		require.Nil(t, r.Failure, id)
	}
}

// A cooldown that only the call finds costs the job neither a delivery nor an entry in its history.
func TestSkippedRunIsNoDelivery(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	var asked atomic.Int64
	work(t, q, noCooldown(backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		if asked.Add(1) == 1 {
			end := time.Now().Add(time.Second)
			return nil, &clichain.BackendError{Reason: clichain.ReasonCoolingDown, RetryAfter: end, Stage: call.StageSkipped}
		}
		return &clichain.Response{Text: "x"}, nil
	})), nil)
	submit(t, q, job("a"))
	r := collect(t, q, 1)["a"]
	require.NotNil(t, r.Response)
	require.Empty(t, r.History)
	require.EqualValues(t, 2, asked.Load())
}
