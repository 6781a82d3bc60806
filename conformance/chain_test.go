package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// The first CLI is logged out, the second one is at its limit, and the third one answers.
func TestChain(t *testing.T) {
	t.Parallel()
	loggedOut := start(t, home.Claude, home.LoggedOut, longTimeout, loopback.Always(loopback.Text("no")))
	limited := start(t, home.Codex, home.LoggedIn, longTimeout, loopback.Always(loopback.Error(429, "rate_limit_error", "slow down")))
	healthy := start(t, home.OpenCode, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	chain := clichain.ChainOf([]clichain.Backend{loggedOut, limited, healthy}, nil)
	resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.Equal(t, home.OpenCode, resp.Backend)
	require.Len(t, resp.Attempts, 2)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrUnauthenticated)
	require.ErrorIs(t, resp.Attempts[1].Err, clichain.ErrRateLimited)
	for _, a := range resp.Attempts {
		require.False(t, a.Skipped)
		t.Logf("%s: %s after %v", a.Backend, a.Reason, a.Duration)
	}
}

func TestFailures(t *testing.T) {
	tests := map[string]struct {
		reply  loopback.Reply
		state  home.State
		reason map[string]clichain.Reason
	}{
		"bad request": {loopback.Error(400, "invalid_request_error", "messages: field is wrong"), home.LoggedIn, map[string]clichain.Reason{
			home.Claude: clichain.ReasonBadRequest, home.Codex: clichain.ReasonBadRequest, home.Gemini: clichain.ReasonBadRequest, home.OpenCode: clichain.ReasonBadRequest}},
		"logged out": {loopback.Text("no"), home.LoggedOut, map[string]clichain.Reason{
			home.Claude: clichain.ReasonUnauthenticated, home.Gemini: clichain.ReasonUnauthenticated}},
		"key refused": {loopback.Error(401, "authentication_error", "invalid key"), home.LoggedIn, map[string]clichain.Reason{
			home.Codex: clichain.ReasonUnauthenticated, home.Gemini: clichain.ReasonUnauthenticated, home.OpenCode: clichain.ReasonUnauthenticated}},
		"empty answer": {loopback.Text(""), home.LoggedIn, map[string]clichain.Reason{
			home.Claude: clichain.ReasonEmpty, home.Codex: clichain.ReasonEmpty, home.OpenCode: clichain.ReasonEmpty}},
	}
	for label, test := range tests {
		for name, reason := range test.reason {
			t.Run(label+"/"+name, func(t *testing.T) {
				longUnless(t, isFirst(name))
				t.Parallel()
				c := start(t, name, test.state, longTimeout, loopback.Always(test.reply))
				_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
				var be *clichain.BackendError
				require.ErrorAs(t, err, &be)
				require.Equal(t, reason, be.Reason, "%v\n%s", err, be.Stderr)
			})
		}
	}
}
