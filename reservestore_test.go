package clichain_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// quotaStore counts its writes of windows. A stalled one does not return before release is closed.
type quotaStore struct {
	cooldown.Memory
	stalled chan struct{}
	writes  atomic.Int32
}

func (s *quotaStore) LoadQuota(ctx context.Context, key string) (cooldown.Quota, error) {
	if s.stalled != nil {
		<-s.stalled
	}
	return s.Memory.LoadQuota(ctx, key)
}

func (s *quotaStore) UpdateQuota(ctx context.Context, key string, change func(cooldown.Quota) cooldown.Quota) error {
	s.writes.Add(1)
	if s.stalled != nil {
		<-s.stalled
	}
	return s.Memory.UpdateQuota(ctx, key, change)
}

func TestWindowsAreStoredOnlyIfReported(t *testing.T) {
	store := new(quotaStore)
	c := clichain.ChainOf([]clichain.Backend{&backend{name: "a"}}, &clichain.ChainConfig{Store: store})
	requireAsked(t, c, "a")
	require.Zero(t, store.writes.Load())
	c = clichain.ChainOf([]clichain.Backend{reports("b", 0.1, time.Hour)}, &clichain.ChainConfig{Store: store})
	requireAsked(t, c, "b")
	require.EqualValues(t, 1, store.writes.Load())
}

// A store that ignores its context delays a call by little, and never fails it.
func TestStalledStoreOfWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &quotaStore{stalled: make(chan struct{})}
		a := reports("a", 0.8, time.Hour)
		c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: store, Reserve: quota.Reserve{Share: 0.3}})
		start := time.Now()
		resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), time.Second)
		require.Len(t, resp.Warnings, 1)
		require.Contains(t, resp.Warnings[0], "the store failed")
		close(store.stalled)
		synctest.Wait()
		requireAsked(t, c, "a")
		_, err = askOnce(t, c)
		require.ErrorIs(t, err, clichain.ErrReserved)
	})
}
