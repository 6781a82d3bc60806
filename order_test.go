package clichain_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func TestStrategies(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	candidates := []clichain.Candidate{
		{Name: "a", LastLimited: now, Duration: 3 * time.Second, CostUSD: new(0.2)},
		{Name: "b", LastLimited: now.Add(-time.Hour), Duration: time.Second},
		{Name: "c", CostUSD: new(0.1)},
		{Name: "d", Duration: 2 * time.Second, CostUSD: new(0.1)},
	}
	req := clichain.Prompt("hi")
	req.Session = "c:" + anID
	for name, test := range map[string]struct {
		strategy clichain.Strategy
		want     string
	}{
		"least recently limited": {clichain.LeastRecentlyLimited, "c d b a"},
		"fastest known":          {clichain.FastestKnown, "b d a c"},
		"cheapest known":         {clichain.CheapestKnown, "c d a b"},
		"sticky by session":      {clichain.StickyBySession, "c a b d"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, c := range test.strategy(req, slices.Clone(candidates)) {
				names = append(names, c.Name)
			}
			require.Equal(t, test.want, strings.Join(names, " "))
		})
	}
}

// A chain learns from its calls whom to ask first.
func TestChainOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited, fast := failing("limited", clichain.ReasonRateLimited), &backend{name: "fast"}
		var seen [][]clichain.Candidate
		order := func(req clichain.Request, candidates []clichain.Candidate) []clichain.Candidate {
			seen = append(seen, slices.Clone(candidates))
			return clichain.LeastRecentlyLimited(req, candidates)
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
		only := func(_ clichain.Request, c []clichain.Candidate) []clichain.Candidate {
			return []clichain.Candidate{{Name: "a"}, c[1], c[1]}
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
		"as given": nil, "ordered": {Order: clichain.FastestKnown}, "hedged": {HedgeAfter: time.Hour},
	} {
		list := []clichain.Backend{incomparable{Backend: failing("a", clichain.ReasonRateLimited)}, incomparable{Backend: &backend{name: "b"}}}
		resp, err := clichain.ChainOf(list, cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err, name)
		require.Equal(t, "b", resp.Backend, name)
	}
}
