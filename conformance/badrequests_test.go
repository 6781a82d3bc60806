package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// Three empty answers in a row start no cooldown. The next call sends a short probe first, and its tokens count.
func TestBadRequestsLeaveTheCLIAvailable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{home.Claude, home.Codex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := home.LoggedIn
			if name == home.Claude {
				state = home.Subscribed
			}
			cli := start(t, name, state, longTimeout, func(r loopback.Request) loopback.Reply {
				if strings.Contains(string(r.Body), "bad request") {
					return loopback.Text("")
				}
				return loopback.Text(hello)
			})
			chain := clichain.ChainOf([]clichain.Backend{cli.Provider}, nil)
			for i := range 3 {
				_, err := chain.Complete(t.Context(), clichain.Prompt(fmt.Sprint("bad request ", i)))
				require.ErrorIs(t, err, clichain.ErrEmpty)
				require.NoError(t, chain.CoolingDown(t.Context(), cli.Provider))
			}
			before := len(cli.server.Requests())
			resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Len(t, resp.Attempts, 1)
			require.ErrorContains(t, resp.Attempts[0].Err, "probe")
			require.NotZero(t, resp.Attempts[0].Usage)
			var prompts []string
			for _, r := range cli.server.Requests()[before:] {
				if r.N > 0 {
					prompts = append(prompts, strings.TrimSpace(r.Prompt()))
				}
			}
			require.Equal(t, []string{"Reply with the word OK.", "say hi"}, prompts)
		})
	}
}
