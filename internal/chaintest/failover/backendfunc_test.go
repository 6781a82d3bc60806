package failover_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chaintest"
)

// The stream of a function delivers its answer.
func TestStreamOfABackendFunc(t *testing.T) {
	t.Parallel()
	b := clichain.BackendFunc("mine", answering("hello"))
	lines, err := story(t, b.Stream(t.Context(), clichain.Prompt("hi")))
	require.NoError(t, err)
	require.Equal(t, []string{"start", "text hello", "done hello"}, lines)
	lines, err = story(t, clichain.ChainOf([]clichain.Backend{b}, nil).Stream(t.Context(), clichain.Prompt("hi")))
	require.NoError(t, err)
	require.Equal(t, []string{"start", "text hello", "done hello"}, lines, "once in a chain too")

	stream := b.Stream(t.Context(), clichain.Prompt("hi"))
	_, err = call.Collect(stream)
	require.NoError(t, err)
	_, err = call.Collect(stream)
	require.ErrorContains(t, err, "only once")

	_, err = clichain.BackendFunc("nothing", nil).Complete(t.Context(), clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonBadOption, err)
}

// A function that calls a chain returns the chain's failure as a whole.
func TestAChainBehindAFunction(t *testing.T) {
	t.Parallel()
	inner := chaintest.ChainOf(chaintest.Failing("a", clichain.ReasonSuppressed), chaintest.Failing("b", clichain.ReasonBilling))
	wrapped := clichain.BackendFunc("wrapped", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		resp, err := inner.Complete(ctx, req)
		if err != nil {
			err = fmt.Errorf("inside: %w", err)
		}
		return resp, err
	})
	_, err := clichain.ChainOf([]clichain.Backend{wrapped}, nil).Complete(t.Context(), clichain.Prompt("hi"))
	var chain *clichain.ChainError
	require.ErrorAs(t, err, &chain)
	require.Equal(t, clichain.ReasonBilling, chain.Attempts[0].Reason, "not that of the first skip")
	require.False(t, chain.Attempts[0].Skipped)
	require.ErrorContains(t, err, "wrapped/b  billing")
}
