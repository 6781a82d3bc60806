package cooldown_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/resettime"
)

// With any content of a store and any clock jump, a cooldown never exceeds the maximum from now. After one call it
// never exceeds its rule.
func TestNonsenseInTheStore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	around := func() time.Time {
		if rand.IntN(4) == 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(rand.Int64N(int64(2000*24*time.Hour))) - 1000*24*time.Hour)
	}
	for range 2000 {
		rest := cooldown.State{Reason: clichain.ReasonUsageLimit, Failures: rand.Int() - rand.Int(), At: around(), Until: around(), Probe: around()}
		c := chaintest.OnClock(chaintest.ChainOf(chaintest.Failing("a", clichain.ReasonUsageLimit)), rand.Float64(), func() time.Time { return now })
		require.NoError(t, chaintest.StoreOf(c).Update(t.Context(), "a", func(cooldown.State) cooldown.State { return rest }))
		for range 20 {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			if !errors.Is(err, clichain.ErrCoolingDown) {
				break
			}
			be := chaintest.RequireReason(t, clichain.ReasonCoolingDown, err)
			require.LessOrEqual(t, be.RetryAfter.Sub(now), resettime.Longest, "%+v", rest)
			now = be.RetryAfter
		}
		kept, err := chaintest.StoreOf(c).Load(t.Context(), "a")
		require.NoError(t, err)
		require.True(t, kept.Until.After(now), "%+v became %+v", rest, kept)
		require.LessOrEqual(t, kept.Until.Sub(now), time.Hour, "%+v became %+v", rest, kept)
	}
}

// brokenStore fails or does not return.
type brokenStore struct{ hangs bool }

func (s brokenStore) wait(ctx context.Context) error {
	if s.hangs {
		<-ctx.Done()
	}
	return errors.New("out of order")
}

func (s brokenStore) Load(ctx context.Context, _ string) (cooldown.State, error) {
	return cooldown.State{Until: time.Now().Add(time.Hour), At: time.Now()}, s.wait(ctx)
}

func (s brokenStore) Update(ctx context.Context, _ string, _ func(cooldown.State) cooldown.State) error {
	return s.wait(ctx)
}

func TestBrokenStoreFailsNoCall(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			a, next := chaintest.Failing("a", clichain.ReasonUsageLimit), &chaintest.Backend{ID: "next"}
			c := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: brokenStore{hangs}})
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(start), 3*time.Second)
		})
	}
}
