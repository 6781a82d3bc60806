package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/live"
)

// addModel is a model that uses the function at once. codex hides functions from models that it knows behind a search.
func addModel(name string) string {
	if name == home.Codex {
		return "gpt-loopback"
	}
	return liveModel(name)
}

// One process serves calls with functions of the same kind. Each call gets its own function.
func TestHostToolsInPool(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex, home.Gemini, home.OpenCode} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(
				addCall(name), loopback.Text(hello), addCall(name), loopback.Text(hello), addCall(name), loopback.Text(hello),
			))
			pool := live.NewPool([]*clichain.Provider{c.Provider}, &live.PoolConfig{Size: 1, Wait: longTimeout.Timeout})
			t.Cleanup(func() { pool.Close() })
			req := clichain.Prompt("add 2 and 3")
			req.Model = addModel(name)
			const rounds = 3
			for range rounds {
				add, calls := adder()
				resp, err := hosttools.With(pool.Backends()[0], add).Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.Equal(t, []summands{{2, 3}}, *calls)
			}
			require.Equal(t, rounds, pool.Stats().Warm)
			require.Less(t, pool.Stats().Started, rounds) // the first call of a home creates files that the second has
			asked := c.server.Calls()
			require.Len(t, asked, 2*rounds)
			require.Contains(t, strings.Join(asked[1].Results(), "\n"), "SUMMARK")
			require.NotContains(t, string(asked[2].Body), "SUMMARK", "the second call sees the first")
			require.Subset(t, append(besideTools[name], asked[0].Tools()[len(asked[0].Tools())-1]), asked[0].Tools())
		})
	}
}

// A session has the functions in each turn, also with write access if the CLI supports that.
func TestHostToolsInSession(t *testing.T) {
	for name, access := range map[string]clichain.Access{
		home.Claude: clichain.AccessWrite, home.Codex: clichain.AccessWrite,
		home.Gemini: clichain.AccessNone, home.OpenCode: clichain.AccessWrite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(
				addCall(name), loopback.Text(hello), addCall(name), loopback.Text(answered),
			))
			add, calls := adder()
			req := clichain.Request{Access: access, Model: addModel(name)}
			if access > clichain.AccessNone {
				req.Dir = c.home.Work
			}
			s := live.New(c.Provider, &live.Config{Request: req, Tools: hosttools.Set(add)})
			t.Cleanup(s.Kill)
			require.NoError(t, s.Start(t.Context()))
			for i, want := range []string{hello, answered} {
				resp, err := s.Ask(t.Context(), "add 2 and 3")
				require.NoError(t, err)
				require.Equal(t, want, resp.Text)
				require.Len(t, *calls, i+1)
			}
			asked := c.server.Calls()
			require.Len(t, asked, 4)
			require.Contains(t, strings.Join(asked[1].Results(), "\n"), "SUMMARK")
		})
	}
}
