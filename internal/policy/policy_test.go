package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/policy"
)

func TestDefaultStopsChainByReason(t *testing.T) {
	require.Len(t, policy.Default, len(call.Reasons()))
	for _, reason := range call.Reasons() {
		row, ok := policy.Default[reason]
		require.True(t, ok, reason)
		require.Equal(t, reason.StopsChain(), row.Stop, reason)
	}
}

func TestWithCopiesTable(t *testing.T) {
	table, mistakes := policy.With(map[call.Reason]policy.Rule{
		call.ReasonExit: {Stop: true}, "nonsense": {}, call.ReasonCanceled: {},
	})
	require.Len(t, mistakes, 2)
	require.True(t, table[call.ReasonExit].Stop)
	require.Zero(t, table[call.ReasonExit].Cools)
	require.False(t, policy.Default[call.ReasonExit].Stop)
}
