package clichain_test

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
	"github.com/clichain/clichain/order"
)

// A chain learns from its calls which backend to ask first.
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
	t.Run("some left out, unknown ones ignored", func(t *testing.T) {
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

// An order function gets a copy: it can change neither the caller's request nor the chain's measurements.
func TestOrderGetsACopy(t *testing.T) {
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
	requireNothingShared(t, reflect.ValueOf(full()), reflect.ValueOf(full().Clone()), "Request")
	a := &backend{name: "a", said: `"yes"`, usage: clichain.Usage{CostUSD: new(1.0)}}
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

// requireNothingShared fails if a copy shares memory with its original. Every field must be set.
func requireNothingShared(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			requireNothingShared(t, a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Map, reflect.Pointer:
		require.NotZero(t, a.Len(), "%s is not set, so it is not tested", path)
		require.NotEqual(t, a.UnsafePointer(), b.UnsafePointer(), path)
		require.Equal(t, a.Interface(), b.Interface(), path)
		if a.Kind() == reflect.Map {
			for _, key := range a.MapKeys() {
				requireNothingShared(t, a.MapIndex(key), b.MapIndex(key), path)
			}
			return
		}
		requireNothingShared(t, a.Index(0), b.Index(0), path)
	}
}

// A caller's own backend may have a type that cannot be compared.
type incomparable struct {
	clichain.Backend
	_ []string
}

func TestBackendsThatCannotBeCompared(t *testing.T) {
	for name, cfg := range map[string]*clichain.ChainConfig{
		"as given": nil, "ordered": {Order: order.Fastest},
	} {
		list := []clichain.Backend{incomparable{Backend: failing("a", clichain.ReasonRateLimited)}, incomparable{Backend: &backend{name: "b"}}}
		resp, err := clichain.ChainOf(list, cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err, name)
		require.Equal(t, "b", resp.Backend, name)
	}
}
