package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

func limitOwners(t *testing.T, q *jetstream.Queue, owners map[string]jetstream.OwnerLimits) {
	t.Helper()
	require.NoError(t, q.SetLimits(t.Context(), &jetstream.Limits{Owners: owners}))
}

// mostRunning answers jobs, and records how many of an owner ran at the same time at most.
type mostRunning struct {
	mu           sync.Mutex
	running, max map[string]int
}

func (p *mostRunning) backend(pause time.Duration) clichain.Backend {
	return backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		owner, _, _ := strings.Cut(strings.TrimPrefix(req.Messages[0].Content, "prompt of "), " ")
		p.mu.Lock()
		p.running[owner]++
		p.max[owner] = max(p.max[owner], p.running[owner])
		p.mu.Unlock()
		time.Sleep(pause)
		p.mu.Lock()
		p.running[owner]--
		p.mu.Unlock()
		return &clichain.Response{Text: "x"}, nil
	})
}

// Three workers with twelve slots run two jobs of alice at the same time, and any number of those of bob, whatever the
// classes and priorities of the jobs are.
func TestRunningJobsOfAnOwnerAreLimited(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 2}})
	const jobs = 24
	for i := range jobs {
		a := owned(fmt.Sprint("alice ", i), "alice")
		a.Priority = []jetstream.Priority{jetstream.PriorityNormal, jetstream.PriorityHigh}[i%2]
		a.Request.Model = fmt.Sprint("m", i%3)
		submit(t, q, a, owned(fmt.Sprint("bob ", i), "bob"))
	}
	p := &mostRunning{running: map[string]int{}, max: map[string]int{}}
	for range 3 {
		work(t, open(t, nc, nil), p.backend(20*time.Millisecond), &jetstream.WorkConfig{Slots: 4})
	}
	collect(t, q, 2*jobs)
	require.Equal(t, 2, p.max["alice"])
	require.Greater(t, p.max["bob"], 2)
}

// Jobs that share a consumer with those of other owners keep their limits and priorities, too.
func TestLimitsOfManyOwners(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	jetstream.MaxClasses(q, 3, 10*time.Millisecond)
	for i := range 8 {
		submit(t, q, owned(fmt.Sprintf("first%d", i), fmt.Sprintf("first%d", i)))
	}
	for i := range 6 {
		j := owned(fmt.Sprint("alice ", i), "alice")
		j.Priority = jetstream.PriorityHigh
		submit(t, q, j)
	}
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 1, Priority: jetstream.PriorityLow}})
	p := &mostRunning{running: map[string]int{}, max: map[string]int{}}
	q2 := open(t, nc, nil)
	jetstream.MaxClasses(q2, 3, 10*time.Millisecond)
	work(t, q2, p.backend(5*time.Millisecond), &jetstream.WorkConfig{Slots: 4})
	collect(t, q, 14)
	require.Equal(t, 1, p.max["alice"])
}

// The slot of an owner is free again after its worker was killed, when its job is, too.
func TestKilledWorkerFreesItsSlot(t *testing.T) {
	t.Parallel()
	const ackWait = time.Second
	q := open(t, embed(t), &jetstream.Config{AckWait: ackWait})
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 1}})
	a := owned("a", "alice")
	submit(t, q, a, owned("b", "alice"))
	before := time.Now()
	require.NoError(t, jetstream.HoldSlot(t.Context(), q, "alice", 1))
	require.NoError(t, jetstream.TakeAndVanish(t.Context(), q, a, "killed"))
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		if time.Since(before) < ackWait {
			t.Error("a second job of the owner ran")
		}
		return &clichain.Response{Text: "x"}, nil
	}), nil)
	got := collect(t, q, 2)
	require.Len(t, got["a"].History, 1)
	require.Empty(t, got["b"].History)
}

// Submit refuses jobs above the limit with an error that names it, and accepts jobs again after results.
func TestQueuedJobsOfAnOwnerAreLimited(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	require.NoError(t, q.SetLimits(t.Context(), &jetstream.Limits{
		Default: jetstream.OwnerLimits{Queued: 2},
		Owners:  map[string]jetstream.OwnerLimits{"bob": {}, "": {Queued: 1}},
	}))
	high := owned("a2", "alice")
	high.Priority = jetstream.PriorityHigh
	submit(t, q, owned("a1", "alice"), high, owned("b1", "bob"), owned("b2", "bob"), owned("b3", "bob"), job("none"))
	other := open(t, nc, nil)
	for _, q := range []*jetstream.Queue{q, other} {
		err := q.Submit(t.Context(), owned("a3", "alice"))
		limit, ok := errors.AsType[*jetstream.LimitError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, jetstream.LimitError{Owner: "alice", Queued: 2, MaxQueued: 2}, *limit)
		require.ErrorContains(t, err, "alice has 2 jobs in the queue, and may have 2")
		require.ErrorContains(t, q.Submit(t.Context(), job("none 2")), "(no owner) has 1 jobs")
		require.ErrorIs(t, q.Submit(t.Context(), owned("a1", "alice")), jetstream.ErrExists)
	}
	work(t, q, echo(), nil)
	collect(t, q, 6)
	require.Eventually(t, func() bool { return q.Submit(t.Context(), owned("a3", "alice")) == nil }, limit, time.Millisecond)
}

// The jobs of an owner whose day is used up wait, and say so, while those of other owners run. A higher limit ends the
// wait without a restart. Failed runs count.
func TestDayOfAnOwnerIsLimited(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]jetstream.OwnerLimits{
		"dollars": {CostUSD: 0.5}, "tokens": {Tokens: 14},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := embed(t)
			q := open(t, nc, nil)
			limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": limits})
			for i := range 5 {
				submit(t, q, owned(fmt.Sprint("alice ", i), "alice"))
			}
			var calls atomic.Int32
			cost := 0.25
			work(t, open(t, nc, nil), backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
				used := clichain.Usage{InputTokens: 3, OutputTokens: 4, CostUSD: &cost}
				if calls.Add(1) == 1 {
					return nil, &clichain.BackendError{Reason: clichain.ReasonBadRequest, Message: "no", Usage: used}
				}
				return &clichain.Response{Text: "x", Usage: used}, nil
			}), nil)
			collect(t, q, 2)
			submit(t, q, owned("bob", "bob"))
			collect(t, q, 3)
			require.Eventually(t, func() bool {
				w, err := q.Waiting(t.Context(), "alice 4")
				return err == nil && strings.Contains(w.Why, "alice has used ") && time.Until(w.Until) <= 24*time.Hour
			}, limit, 10*time.Millisecond)
			require.EqualValues(t, 3, calls.Load())
			s, err := q.Status(t.Context())
			require.NoError(t, err)
			alice := s.Owners[0]
			require.Equal(t, "alice", alice.Owner)
			if limits.CostUSD > 0 {
				require.InDelta(t, 0.5, alice.Today.CostUSD, 1e-9)
			}
			require.EqualValues(t, 14, alice.Today.Tokens)
			require.Equal(t, limits, alice.Limits)
			require.False(t, alice.Until.IsZero())
			limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {CostUSD: 100, Tokens: 1000}})
			collect(t, q, 6)
		})
	}
}
