package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestCountersAreRebased(t *testing.T) {
	cumulative := []string{"cost_usd", "input_tokens"}
	first := call.Usage{InputTokens: 12, OutputTokens: 7, CostUSD: new(0.000188)}
	later := call.Usage{InputTokens: 30, OutputTokens: 5, CostUSD: new(0.000377)}
	base := decodeBase(EncodeBase(first, cumulative))
	require.NotNil(t, base)
	got := rebased(later, cumulative, base)
	require.InDelta(t, 0.000189, *got.CostUSD, 1e-9)
	require.EqualValues(t, 18, got.InputTokens)
	require.EqualValues(t, 5, got.OutputTokens, "which is counted anew")

	got = rebased(later, cumulative, nil)
	require.Nil(t, got.CostUSD, "unknown stays unknown")
	require.Zero(t, got.InputTokens)
	got = rebased(first, cumulative, &call.Usage{InputTokens: 99, CostUSD: new(9.0)})
	require.Zero(t, *got.CostUSD, "it began anew: never less than nothing")
	require.Zero(t, got.InputTokens)
	for _, text := range []string{"", "nonsense=1", "input_tokens=x,cost_usd=1", "input_tokens=-1", "input_tokens=1,cost_usd=NaN", "input_tokens=1,cost_usd=-1"} {
		require.Nil(t, decodeBase(text), text)
	}
	unknown := decodeBase(EncodeBase(call.Usage{InputTokens: 1}, cumulative))
	require.Nil(t, rebased(later, cumulative, unknown).CostUSD)
}
