package clichain_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/order"
)

// A chain learns from its calls whom to ask first.
func TestChainOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited, fast := failing("limited", clichain.ReasonRateLimited), &backend{name: "fast"}
		var seen [][]order.Candidate
		order := func(req clichain.Request, candidates []order.Candidate) []order.Candidate {
			seen = append(seen, slices.Clone(candidates))
			return order.LeastRecentlyLimited(req, candidates)
		}
		c := clichain.ChainOf([]clichain.Backend{limited, fast}, &clichain.ChainConfig{Order: order, NoCooldown: true})
		for range 2 {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
		}
		require.Equal(t, 1, limited.asked, "it met a limit once")
		require.Equal(t, 2, fast.asked)
		require.True(t, seen[0][0].LastLimited.IsZero())
		require.Equal(t, time.Now(), seen[1][0].LastLimited)
	})
	t.Run("some are left out, strangers ignored", func(t *testing.T) {
		a, b := &backend{name: "a"}, &backend{name: "b"}
		only := func(_ clichain.Request, c []order.Candidate) []order.Candidate {
			return []order.Candidate{{Name: "a"}, c[1], c[1]}
		}
		resp, err := clichain.ChainOf([]clichain.Backend{a, b}, &clichain.ChainConfig{Order: only}).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "b", resp.Backend)
		require.Zero(t, a.asked)
	})
}

// A caller's own backend may be of a type that cannot be compared.
type incomparable struct {
	clichain.Backend
	_ []string
}

func TestBackendsThatCannotBeCompared(t *testing.T) {
	for name, cfg := range map[string]*clichain.ChainConfig{
		"as given": nil, "ordered": {Order: order.Fastest}, "hedged": {HedgeAfter: time.Hour},
	} {
		list := []clichain.Backend{incomparable{Backend: failing("a", clichain.ReasonRateLimited)}, incomparable{Backend: &backend{name: "b"}}}
		resp, err := clichain.ChainOf(list, cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err, name)
		require.Equal(t, "b", resp.Backend, name)
	}
}
