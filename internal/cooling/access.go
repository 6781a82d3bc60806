package cooling

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/internal/plaintext"
)

const (
	storeTimeout = 500 * time.Millisecond // for one access to a store
	longestShare = 5 * time.Second        // for all accesses in one call
	storeShare   = 10                     // the accesses may take this fraction (1/n) of the call's time
	maxTimeouts  = 3                      // of accesses in one call, after which the call works without the store
)

var (
	errNoShare = fmt.Errorf("the call has no time left for the store: %w", context.DeadlineExceeded)
	errStalled = fmt.Errorf("an earlier access does not return: %w", context.DeadlineExceeded)
)

// Share is the time that one call may spend on a store, and the first problem with the store. A nil Share,
// which calls with an in-memory store have, reports no problems. It is safe for concurrent use.
type Share struct {
	mu       sync.Mutex
	left     time.Duration
	timeouts int
	problem  error
}

type shareKey struct{}

// Share returns the context of one call, in which all accesses to the store together take at most a tenth of
// the call's time. A total of zero or less means no limit from the call.
func (k *Keeper) Share(ctx context.Context, total time.Duration) (context.Context, *Share) {
	if k == nil || !k.slow() {
		return ctx, nil
	}
	s := &Share{left: longestShare}
	if total > 0 {
		s.left = min(s.left, total/storeShare)
	}
	return context.WithValue(ctx, shareKey{}, s), s
}

// Problem describes why the call had to continue at least once without the store, or returns "".
func (s *Share) Problem() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		return ""
	}
	return "cooldowns: the store failed, and the call continued without it: " + plaintext.OneLine(s.problem.Error())
}

// limit returns the time limit of the next access. It leaves half of the remaining time for later accesses.
func (s *Share) limit() time.Duration {
	if s == nil {
		return storeTimeout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timeouts >= maxTimeouts {
		return 0
	}
	return min(storeTimeout, s.left/2)
}

// spent records an access.
func (s *Share) spent(d time.Duration, err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left -= d
	if errors.Is(err, context.DeadlineExceeded) {
		s.timeouts++
	}
	if s.problem == nil && !errors.Is(err, context.Canceled) {
		s.problem = err
	}
}

// outcome is the outcome of one access.
type outcome[V any] struct {
	value    V
	err      error
	panicked any
}

// access is one use of a store, on a separate goroutine, because a store may ignore the context.
type access[V any] struct {
	mu        sync.Mutex
	abandoned bool // the caller does not wait any more
	done      chan outcome[V]
}

// use limits the time of one use of the store. While an abandoned use has not returned, all other uses fail at
// once.
func use[V any](
	ctx context.Context, k *Keeper, do func(context.Context, *access[V]) (V, error),
) (value V, err error) {
	share, _ := ctx.Value(shareKey{}).(*Share)
	start := time.Now()
	defer func() { share.spent(time.Since(start), err) }()
	limit := share.limit()
	switch {
	case k.stalled.Load() > 0:
		return value, errStalled
	case limit <= 0:
		return value, errNoShare
	}
	ctx, cancel := context.WithTimeout(ctx, limit-limit/5) // the rest is for the store to return
	defer cancel()
	a := &access[V]{done: make(chan outcome[V], 1)}
	go a.run(ctx, &k.stalled, do)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case o := <-a.done:
		return o.result()
	case <-timer.C:
		return a.abandon(&k.stalled)
	}
}

func (a *access[V]) run(
	ctx context.Context, stalled *atomic.Int32, do func(context.Context, *access[V]) (V, error),
) {
	var o outcome[V]
	defer func() {
		o.panicked = recover()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.done <- o
		if a.abandoned {
			stalled.Add(-1)
		}
	}()
	o.value, o.err = do(ctx, a)
}

// abandon stops waiting, unless there is already an outcome.
func (a *access[V]) abandon(stalled *atomic.Int32) (value V, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case o := <-a.done:
		return o.result()
	default:
		a.abandoned = true
		stalled.Add(1)
		return value, errStalled
	}
}

// guarded returns a change that does nothing after the access was abandoned, because its results are not read
// any more.
func (a *access[V]) guarded(change func(V) V) func(V) V {
	return func(v V) V {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.abandoned {
			return v
		}
		return change(v)
	}
}

func (o outcome[V]) result() (V, error) {
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.value, o.err
}
