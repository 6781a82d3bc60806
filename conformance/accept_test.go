package conformance_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A check refuses the answer of claude, and codex answers.
func TestAcceptRefusesFirstAnswer(t *testing.T) {
	first := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text("TODO")))
	next := start(t, home.Codex, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	chain := clichain.ChainOf([]clichain.Backend{first, next}, &clichain.ChainConfig{
		Accept: func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
			if resp.Text == "TODO" {
				return errors.New("unfinished")
			}
			return nil
		},
	})
	for range 2 { // no cooldown skips claude the second time
		resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Equal(t, home.Codex, resp.Backend)
		require.Len(t, resp.Attempts, 1)
		a := resp.Attempts[0]
		require.Equal(t, clichain.ReasonRejected, a.Reason)
		require.Positive(t, a.Usage.InputTokens)
		be, ok := errors.AsType[*clichain.BackendError](a.Err)
		require.True(t, ok)
		require.Equal(t, "TODO", be.Partial)
		require.Equal(t, "unfinished", be.Message)
	}
}
