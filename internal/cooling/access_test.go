package cooling

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// sharedStore is a store that is not in memory, such as a file or a database.
type sharedStore struct {
	*cooldown.Memory
	before  func(context.Context) error // called by each access
	updates atomic.Int32
}

func (s *sharedStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	if err := s.before(ctx); err != nil {
		return cooldown.State{Failures: 7}, err
	}
	return s.Memory.Load(ctx, key)
}

func (s *sharedStore) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	s.updates.Add(1)
	if err := s.before(ctx); err != nil {
		return err
	}
	return s.Memory.Update(ctx, key, change)
}

func (s *sharedStore) LoadQuota(ctx context.Context, key string) (cooldown.Quota, error) {
	if err := s.before(ctx); err != nil {
		return cooldown.Quota{}, err
	}
	return s.Memory.LoadQuota(ctx, key)
}

func (s *sharedStore) UpdateQuota(ctx context.Context, key string, change func(cooldown.Quota) cooldown.Quota) error {
	if err := s.before(ctx); err != nil {
		return err
	}
	return s.Memory.UpdateQuota(ctx, key, change)
}

func works(context.Context) error { return nil }

func newShared(before func(context.Context) error) *sharedStore {
	return &sharedStore{Memory: cooldown.NewMemory(), before: before}
}

// The accesses of a call take at most a tenth of its time, and 5 s in total. One access takes at most half a second, and
// leaves half of the time.
func TestShareLimits(t *testing.T) {
	for name, test := range map[string]struct {
		total, left, limit time.Duration
	}{
		"no limit":   {0, 5 * time.Second, 500 * time.Millisecond},
		"negative":   {-time.Second, 5 * time.Second, 500 * time.Millisecond},
		"short call": {time.Second, 100 * time.Millisecond, 50 * time.Millisecond},
		"long call":  {time.Hour, 5 * time.Second, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			k := &Keeper{Store: newShared(works)}
			ctx, share := k.Share(t.Context(), test.total)
			require.Equal(t, test.left, share.left)
			require.Equal(t, test.limit, share.limit())
			require.Same(t, share, ctx.Value(shareKey{}))
		})
	}
	require.Equal(t, 500*time.Millisecond, (*Share)(nil).limit())
}

// Only stores outside this process need a limit.
func TestShareOfStores(t *testing.T) {
	memory, shared := cooldown.NewMemory(), newShared(works)
	for name, test := range map[string]struct {
		keeper *Keeper
		limits bool
	}{
		"no keeper":       {nil, false},
		"no store":        {&Keeper{}, false},
		"memory":          {&Keeper{Store: memory, Quotas: memory}, false},
		"only quotas":     {&Keeper{Quotas: memory}, false},
		"shared store":    {&Keeper{Store: shared}, true},
		"shared quotas":   {&Keeper{Store: memory, Quotas: shared}, true},
		"only the states": {&Keeper{Store: shared, Quotas: memory}, true},
	} {
		_, share := test.keeper.Share(t.Context(), time.Minute)
		require.Equal(t, test.limits, share != nil, name)
	}
}

// After three accesses that timed out, a call works without the store. It reports the first problem.
func TestShareSpent(t *testing.T) {
	s := &Share{left: 400 * time.Millisecond}
	require.Empty(t, s.Problem())
	s.spent(100*time.Millisecond, nil)
	s.spent(0, context.Canceled)
	require.Empty(t, s.Problem(), "a canceled call is no problem of the store")
	require.Equal(t, 150*time.Millisecond, s.limit())
	s.spent(0, errors.New("disk\nfull"))
	for range 2 {
		s.spent(0, context.DeadlineExceeded)
		require.Equal(t, 150*time.Millisecond, s.limit())
	}
	s.spent(0, context.DeadlineExceeded)
	require.Zero(t, s.limit())
	require.Equal(t, "cooldowns: the store failed, and the call continued without it: disk full", s.Problem())
	(*Share)(nil).spent(time.Second, context.DeadlineExceeded)
	require.Empty(t, (*Share)(nil).Problem())
}

// A store gets four fifths of an access's time, so that it can still return an error.
func TestStoreThatObeysContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		k := &Keeper{Log: slog.New(slog.NewTextHandler(&log, nil)), Store: newShared(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})}
		begin := time.Now()
		require.Zero(t, k.load(t.Context(), "a"), "a failed store has no state")
		require.Equal(t, 400*time.Millisecond, time.Since(begin))
		require.ErrorIs(t, k.update(t.Context(), "a", func(s cooldown.State) cooldown.State { return s }), context.DeadlineExceeded)
		require.Equal(t, 800*time.Millisecond, time.Since(begin))
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "%s", log.String())
	})
}

func TestUpdateErrorIsLogged(t *testing.T) {
	var log strings.Builder
	k := &Keeper{Log: slog.New(slog.NewTextHandler(&log, nil)), Store: newShared(func(context.Context) error { return errors.New("disk full") })}
	require.ErrorContains(t, k.update(t.Context(), "a", func(s cooldown.State) cooldown.State { return s }), "disk full")
	require.Contains(t, log.String(), `msg="cooldown store" error="disk full"`)
}

// While a store ignores its context, other accesses fail at once. They work again after it has returned.
func TestStalledStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		wait := func(context.Context) error { <-release; return nil }
		store := newShared(func(ctx context.Context) error { return wait(ctx) })
		k := &Keeper{Store: store, Log: slog.New(slog.DiscardHandler)}
		change := func(s cooldown.State) cooldown.State { s.Failures++; return s }
		begin := time.Now()
		require.ErrorIs(t, k.update(t.Context(), "a", change), errStalled)
		require.Equal(t, 500*time.Millisecond, time.Since(begin))
		require.ErrorIs(t, k.update(t.Context(), "a", change), errStalled)
		require.Equal(t, 500*time.Millisecond, time.Since(begin), "no second wait")
		require.EqualValues(t, 1, store.updates.Load())
		close(release)
		synctest.Wait()
		wait = works
		require.NoError(t, k.update(t.Context(), "a", change))
		require.Equal(t, 1, k.load(t.Context(), "a").Failures, "the abandoned update changes nothing")
	})
}

func TestCallWithoutShareLeft(t *testing.T) {
	k := &Keeper{Store: newShared(works), Log: slog.New(slog.DiscardHandler)}
	ctx := context.WithValue(t.Context(), shareKey{}, &Share{left: time.Second, timeouts: maxTimeouts})
	require.ErrorIs(t, k.update(ctx, "a", nil), errNoShare)
}

func TestPanicOfStoreReachesCaller(t *testing.T) {
	k := &Keeper{Store: newShared(func(context.Context) error { panic("of the store") })}
	require.PanicsWithValue(t, "of the store", func() { k.load(t.Context(), "a") })
}

// A failure of the store means that nothing is known.
func TestQuotaOfFailedStore(t *testing.T) {
	var log strings.Builder
	k := &Keeper{Quotas: newShared(func(context.Context) error { return errors.New("disk full") }), Log: slog.New(slog.NewTextHandler(&log, nil))}
	require.Empty(t, k.AccountWindows(t.Context(), accountCall{}))
	require.Contains(t, log.String(), "level=WARN")
	log.Reset()
	fresh := &Keeper{Quotas: k.Quotas, Log: k.Log}
	fresh.Observe(t.Context(), accountCall{}, []call.QuotaWindow{{Name: "week"}})
	require.Contains(t, log.String(), "level=WARN")
}
