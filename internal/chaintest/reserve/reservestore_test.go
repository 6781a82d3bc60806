package reserve_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/quota"
	"github.com/clichain/clichain/specs"
)

// quotaStore counts its accesses to windows. A stalled one does not return before the channel is closed.
type quotaStore struct {
	cooldown.Memory
	stalled       chan struct{}
	reads, writes atomic.Int32
	onWrite       func() // nil: ignored
}

func (s *quotaStore) LoadQuota(ctx context.Context, key string) (cooldown.Quota, error) {
	s.reads.Add(1)
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
	if s.onWrite != nil {
		defer s.onWrite()
	}
	return s.Memory.UpdateQuota(ctx, key, change)
}

const textDelta = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}`

// reportThenWait prints a report about a usage window, and then text until the CLI is killed.
func reportThenWait(used float64) clitest.Scenario {
	limit := fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour",`+
		`"unifiedWindows":{"five_hour":{"utilization":%v,"resetsAt":%d}}}}`, used, time.Now().Add(time.Hour).Unix())
	return chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1+"\n"+limit+"\n"+limit+"\n"+textDelta+"\n"), clitest.Step{Hang: true})
}

// The report of a call is stored although its reader does not wait for the end.
func TestWindowsAreStoredIfTheReaderLeaves(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	store := new(quotaStore)
	claude := chaintest.Provider(t, specs.Claude(), clichain.Config{}, reportThenWait(0.42))
	c := clichain.ChainOf([]clichain.Backend{claude}, &clichain.ChainConfig{Store: store})
	for e, err := range c.Stream(t.Context(), clichain.Prompt("hi")) {
		require.NoError(t, err)
		if e.Kind == clichain.EventDelta {
			break
		}
	}
	windows := c.Quota(t.Context(), claude)
	require.Len(t, windows, 1)
	require.InDelta(t, 0.42, *windows[0].Used, 1e-9)
	require.EqualValues(t, 1, store.writes.Load(), "the second report says nothing new")
}

// A report is stored when it arrives. The CLI of this call would answer in an hour.
func TestWindowsAreStoredWhenTheyArrive(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	store := &quotaStore{onWrite: cancel}
	claude := chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: -1}, reportThenWait(0.42))
	c := clichain.ChainOf([]clichain.Backend{claude}, &clichain.ChainConfig{Store: store, Reserve: quota.Reserve{Share: 0.6}})
	_, err := c.Complete(ctx, clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonCanceled, err)
	require.EqualValues(t, 1, store.writes.Load(), "the error of the call says nothing new")
	_, err = askOnce(t, c)
	require.ErrorIs(t, err, clichain.ErrReserved)
}

// Only a strategy that looks at windows reads them, and once for each backend.
func TestOrderReadsWindowsOnDemand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		strategy order.Strategy
		reads    int32
	}{
		"none": {nil, 0}, "by duration": {order.Fastest, 0}, "by session": {order.StickySession, 0}, "by headroom": {order.Headroom, 2},
		"by headroom, twice": {func(req clichain.Request, list []order.Candidate) []order.Candidate {
			return order.Headroom(req, order.Headroom(req, list))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			store := new(quotaStore)
			backends := []clichain.Backend{reports("a", 0.1, time.Hour), reports("b", 0.1, time.Hour)}
			requireAsked(t, clichain.ChainOf(backends, &clichain.ChainConfig{Store: store, Order: test.strategy}), "a")
			require.Equal(t, test.reads, store.reads.Load())
		})
	}
}

func TestWindowsAreStoredOnlyIfReported(t *testing.T) {
	t.Parallel()
	store := new(quotaStore)
	c := clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "a"}}, &clichain.ChainConfig{Store: store})
	requireAsked(t, c, "a")
	require.Zero(t, store.writes.Load())
	c = clichain.ChainOf([]clichain.Backend{reports("b", 0.1, time.Hour)}, &clichain.ChainConfig{Store: store})
	requireAsked(t, c, "b")
	require.EqualValues(t, 1, store.writes.Load())
}

// A store that ignores its context delays a call by little, and never fails it.
func TestStalledStoreOfWindows(t *testing.T) {
	t.Parallel()
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
