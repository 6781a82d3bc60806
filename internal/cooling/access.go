package cooling

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/plaintext"
)

const (
	storeTimeout = 500 * time.Millisecond // of one access to a store
	longestShare = 5 * time.Second        // of all accesses in one call
	storeShare   = 10                     // the part of a call's time that they may take: one in so many
	maxTimeouts  = 3                      // of accesses in one call; then it works without the store
)

var (
	errNoShare = fmt.Errorf("the call has no more time for it: %w", context.DeadlineExceeded)
	errStalled = fmt.Errorf("it does not return: %w", context.DeadlineExceeded)
)

// Share is the time that one call may spend on a store, and the first problem with it. The nil Share, that of a store
// in memory, has no problems. It is safe for concurrent use.
type Share struct {
	mu       sync.Mutex
	left     time.Duration
	timeouts int
	problem  error
}

type shareKey struct{}

// Share returns the context of one call, in which all accesses to the store together take a tenth of the call's time at
// most. A total of zero or less is no bound.
func (k *Keeper) Share(ctx context.Context, total time.Duration) (context.Context, *Share) {
	if k == nil || k.Store == nil || k.inMemory() != nil {
		return ctx, nil
	}
	s := &Share{left: longestShare}
	if total > 0 {
		s.left = min(s.left, total/storeShare)
	}
	return context.WithValue(ctx, shareKey{}, s), s
}

// Problem says why the call had to work without the store, at least once; empty: it did not have to.
func (s *Share) Problem() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		return ""
	}
	return "cooldowns: the store failed, and the call went on without it: " + plaintext.OneLine(s.problem.Error())
}

// limit is the time of the next access. Half of what is left remains for the one after it.
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

// spent counts an access.
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

// outcome is that of one access.
type outcome struct {
	state    cooldown.State
	err      error
	panicked any
}

// access is one use of a store, on a goroutine of its own: a store may heed no context.
type access struct {
	mu        sync.Mutex
	abandoned bool // nobody waits for it any more
	done      chan outcome
}

// use bounds one use of the store. While a use that was abandoned has not returned, all others fail at once.
func (k *Keeper) use(
	ctx context.Context, do func(context.Context, *access) (cooldown.State, error),
) (state cooldown.State, err error) {
	share, _ := ctx.Value(shareKey{}).(*Share)
	start := time.Now()
	defer func() { share.spent(time.Since(start), err) }()
	limit := share.limit()
	switch {
	case k.stalled.Load() > 0:
		return cooldown.State{}, errStalled
	case limit <= 0:
		return cooldown.State{}, errNoShare
	}
	ctx, cancel := context.WithTimeout(ctx, limit-limit/5) // the rest is for the store to notice
	defer cancel()
	a := &access{done: make(chan outcome, 1)}
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

func (a *access) run(
	ctx context.Context, stalled *atomic.Int32, do func(context.Context, *access) (cooldown.State, error),
) {
	var o outcome
	defer func() {
		o.panicked = recover()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.done <- o
		if a.abandoned {
			stalled.Add(-1)
		}
	}()
	o.state, o.err = do(ctx, a)
}

// abandon stops waiting, unless there is an outcome by now.
func (a *access) abandon(stalled *atomic.Int32) (cooldown.State, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case o := <-a.done:
		return o.result()
	default:
		a.abandoned = true
		stalled.Add(1)
		return cooldown.State{}, errStalled
	}
}

// guarded is a change that changes nothing once nobody waits for it: what it tells its caller is not read any more.
func (a *access) guarded(change func(cooldown.State) cooldown.State) func(cooldown.State) cooldown.State {
	return func(s cooldown.State) cooldown.State {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.abandoned {
			return s
		}
		return change(s)
	}
}

func (o outcome) result() (cooldown.State, error) {
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.state, o.err
}
