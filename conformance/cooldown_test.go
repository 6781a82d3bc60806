package conformance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/testtime"
)

// seen is a store that records the last key.
type seen struct {
	cooldown.Store
	key atomic.Value
}

func (s *seen) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	s.key.Store(key)
	return s.Store.Update(ctx, key, change)
}

// A call fails at the limit of the plan. Later calls skip the CLI until the reset. After it one half-open probe runs.
func TestCooldownUntilTheReset(t *testing.T) {
	t.Parallel()
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Hour)
	limit := loopback.Error(429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.").
		With("anthropic-ratelimit-unified-status", "rejected").
		With("anthropic-ratelimit-unified-reset", fmt.Sprint(reset.Unix())).
		With("anthropic-ratelimit-unified-representative-claim", "five_hour").
		With("anthropic-ratelimit-unified-overage-status", "rejected")
	var over atomic.Bool
	claude := start(t, home.Claude, home.Subscribed, longTimeout, func(loopback.Request) loopback.Reply {
		if over.Load() {
			return loopback.Text(hello)
		}
		return limit
	})
	store := &seen{Store: cooldown.NewFile(filepath.Join(t.TempDir(), "cooldowns.json"), func(err error) { t.Error(err) })}
	other := start(t, home.Codex, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	chain := clichain.ChainOf([]clichain.Backend{claude.Provider, other.Provider}, &clichain.ChainConfig{Store: store})
	ask := func() *clichain.Response {
		resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		return resp
	}

	resp := ask()
	require.Equal(t, home.Codex, resp.Backend)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrUsageLimit)
	var cooling *clichain.BackendError
	require.ErrorAs(t, chain.CoolingDown(t.Context(), claude.Provider), &cooling)
	until := cooling.RetryAfter
	require.WithinDuration(t, reset, until, time.Minute, "the reset that the service reported")
	asked := len(claude.server.Requests())

	alone := clichain.ChainOf([]clichain.Backend{claude.Provider}, &clichain.ChainConfig{Store: store})
	best := time.Hour
	for range 10 {
		begin := time.Now()
		_, err := alone.Complete(t.Context(), clichain.Prompt("say hi"))
		best = min(best, time.Since(begin))
		require.ErrorIs(t, err, clichain.ErrCoolingDown)
	}
	t.Logf("skipped in %v", best)
	testtime.Took(t, best, 25*time.Millisecond)
	require.Len(t, claude.server.Requests(), asked, "a skipped call sent a request")

	over.Store(true)
	require.NoError(t, store.Store.Update(t.Context(), store.key.Load().(string), func(r cooldown.State) cooldown.State {
		r.At, r.Until = time.Now().Add(-2*time.Hour).UTC(), time.Now().Add(-time.Second).UTC() // simulates the time after the reset
		return r
	}))
	require.Equal(t, home.Claude, ask().Backend)
	require.Equal(t, home.Claude, ask().Backend)
}
