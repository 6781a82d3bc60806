package reserve_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/order"
)

// A chain learns from its calls which backend to ask first.
func TestChainOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited, fast := chaintest.Failing("limited", clichain.ReasonRateLimited), &chaintest.Backend{ID: "fast"}
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
		require.Equal(t, 1, limited.Asked, "it met a limit once")
		require.Equal(t, 2, fast.Asked)
		require.True(t, seen[0][0].LastLimited.IsZero())
		require.Equal(t, time.Now(), seen[1][0].LastLimited)
	})
	t.Run("some left out, unknown ones ignored", func(t *testing.T) {
		a, b := &chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b"}
		only := func(_ clichain.Request, c []order.Candidate) []order.Candidate {
			return []order.Candidate{{Name: "a"}, c[1], c[1]}
		}
		resp, err := clichain.ChainOf([]clichain.Backend{a, b}, &clichain.ChainConfig{Order: only}).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "b", resp.Backend)
		require.Zero(t, a.Asked)
	})
}

// An order function gets a copy: it can change neither the caller's request nor the chain's measurements.
func TestOrderGetsACopy(t *testing.T) {
	t.Parallel()
	full := func() clichain.Request {
		req := clichain.Prompt("hi")
		req.Schema = json.RawMessage(`{"type":"string"}`)
		req.Env, req.Metadata = map[string]string{"A": "b"}, map[string]string{"c": "d"}
		req.Threads = []call.Thread{{Backend: "a"}}
		o := &req.Options
		o.AllowedTools, o.DisallowedTools = []string{"a"}, []string{"b"}
		o.MCPConfig, o.Agents = []json.RawMessage{json.RawMessage(`{"mcpServers":{}}`)}, json.RawMessage(`{}`)
		o.AddDirs, o.Images, o.Extra = []string{"d"}, []string{"i"}, map[string][]string{"a": {"-x"}}
		return req
	}
	chaintest.RequireNothingShared(t, reflect.ValueOf(full()), reflect.ValueOf(full().Clone()), "Request")
	a := &chaintest.Backend{ID: "a", Said: `"yes"`, Usage: clichain.Usage{CostUSD: new(1.0)}}
	var costs []float64
	hostile := func(req clichain.Request, list []order.Candidate) []order.Candidate {
		req.Messages[0].Content, req.Schema[0], req.Env["A"], req.Metadata["c"] = "changed", 'x', "changed", "changed"
		req.Threads[0].Backend = "changed"
		o := &req.Options
		o.AllowedTools[0], o.DisallowedTools[0], o.AddDirs[0], o.Images[0] = "x", "x", "x", "x"
		o.MCPConfig[0][0], o.Agents[0], o.Extra["a"][0], o.Extra["b"] = 'x', 'x', "x", nil
		if cost := list[0].CostUSD; cost != nil {
			costs = append(costs, *cost)
			*cost = 100
		}
		return list
	}
	c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Order: hostile})
	for range 3 {
		req := full()
		_, err := c.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, full(), req)
	}
	require.Equal(t, []float64{1, 1}, costs)
}

// A caller's own backend may have a type that cannot be compared.
type incomparable struct {
	clichain.Backend
	_ []string
}

func TestBackendsThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]*clichain.ChainConfig{
		"as given": nil, "ordered": {Order: order.Fastest},
	} {
		list := []clichain.Backend{incomparable{Backend: chaintest.Failing("a", clichain.ReasonRateLimited)}, incomparable{Backend: &chaintest.Backend{ID: "b"}}}
		resp, err := clichain.ChainOf(list, cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err, name)
		require.Equal(t, "b", resp.Backend, name)
	}
}
