package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

func TestRebase(t *testing.T) {
	rules := clispec.SessionRules{Cumulative: []string{"cost_usd", "input_tokens"}}
	first := call.Usage{InputTokens: 12, OutputTokens: 7, CostUSD: new(0.000188)}
	later := call.Usage{InputTokens: 30, OutputTokens: 5, CostUSD: new(0.000377)}
	rebase := func(u call.Usage, used *call.Usage) call.Usage {
		return Rebase(rules, u, &Record{Used: used})
	}

	used := Used(rules, first)
	require.Equal(t, &call.Usage{InputTokens: 12, CostUSD: first.CostUSD}, used, "only counts that accumulate")
	got := rebase(later, used)
	require.InDelta(t, 0.000189, *got.CostUSD, 1e-9)
	require.EqualValues(t, 18, got.InputTokens)
	require.EqualValues(t, 5, got.OutputTokens, "restarted count")

	for _, got := range []call.Usage{rebase(later, nil), Rebase(rules, later, nil)} {
		require.Nil(t, got.CostUSD, "unknown usage stays unknown")
		require.Zero(t, got.InputTokens)
		require.EqualValues(t, 5, got.OutputTokens)
	}
	got = rebase(first, &call.Usage{InputTokens: 99, CostUSD: new(9.0)})
	require.Equal(t, first, got, "restarted count of the same size")
	require.Equal(t, first, rebase(first, Used(rules, first)), "restarted count equal to the previous one")
	require.Nil(t, rebase(later, Used(rules, call.Usage{InputTokens: 1})).CostUSD)
	require.Nil(t, Used(rules, call.Usage{OutputTokens: 7}), "no counts reported")
	require.Nil(t, Used(clispec.SessionRules{}, first), "nothing accumulates")
}

func TestDir(t *testing.T) {
	made, elsewhere := &Record{Dir: "/made"}, call.Request{Dir: "/elsewhere"}
	require.Equal(t, "/made", Dir(call.Request{}, made))
	require.Equal(t, "/elsewhere", Dir(elsewhere, made))
	require.Equal(t, "/elsewhere", Dir(elsewhere, nil))
	require.Empty(t, Dir(call.Request{}, nil))
}
