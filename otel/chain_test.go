package otel_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func TestChainGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		limited := failing("a", clichain.ReasonUsageLimit, usage{})
		chain := s.plainChain(config{Name: "team"}, limited, fine)
		registration, err := s.RegisterChain(chain)
		require.NoError(t, err)
		gauges := func(ready, a string) map[string]map[string]string {
			return map[string]map[string]string{
				"clichain.chain.ready":        {"team": ready},
				"clichain.cooldown.remaining": {"a": a, "b": "0"},
			}
		}
		require.Equal(t, gauges("1", "0"), s.all(t))
		_, err = chain.Complete(t.Context(), question)
		require.NoError(t, err)
		skip, ok := chain.CoolingDown(t.Context(), limited).(*clichain.BackendError)
		require.True(t, ok)
		left := time.Until(skip.RetryAfter)
		require.Greater(t, left, time.Second)
		before := s.metrics(t)
		require.Equal(t, "1", points(t, before["clichain.chain.ready"])["team"])
		require.Equal(t, fmt.Sprint(left.Seconds()), points(t, before["clichain.cooldown.remaining"])["a"])
		time.Sleep(left + time.Second)
		require.Equal(t, "0", points(t, s.metrics(t)["clichain.cooldown.remaining"])["a"])
		require.NoError(t, registration.Unregister())
		require.NotContains(t, s.metrics(t), "clichain.chain.ready")
	})
}

func TestChainGaugeWithoutReadyBackend(t *testing.T) {
	s := watch(t)
	chain := s.plainChain(config{}, failing("a", clichain.ReasonUsageLimit, usage{}))
	_, err := s.RegisterChain(chain)
	require.NoError(t, err)
	_, err = chain.Complete(t.Context(), question)
	require.Error(t, err)
	require.Equal(t, map[string]string{"chain": "0"}, points(t, s.metrics(t)["clichain.chain.ready"]))
	_, err = s.RegisterChain(nil)
	require.ErrorContains(t, err, "chain is nil")
}
