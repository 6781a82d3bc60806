package accept_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// With write access, a rejected answer stops the chain unless the agent certainly used no tool, or worked in a copy.
func TestRejectionWithWriteAccess(t *testing.T) {
	t.Setenv("IS_SANDBOX", "1")
	lines := func(lines ...string) clitest.Scenario {
		return chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(strings.Join(lines, "\n")+"\n"))
	}
	idle, acted := lines(chaintest.Init1, chaintest.ResultLine("from a")), lines(chaintest.Init1, chaintest.ToolUse, chaintest.ResultLine("from a"))
	cli := func(t *testing.T, s clitest.Scenario, out clispec.OutputMode) clichain.Backend {
		return chaintest.Provider(t, specs.Claude(), clichain.Config{Output: out}, s)
	}
	copied := clichain.BackendFunc("a", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "from a", Changes: &call.Changes{}}, nil
	})
	for name, test := range map[string]struct {
		first  func(t *testing.T) clichain.Backend
		replay clichain.ReplayPolicy
		next   bool
	}{
		"no tool":            {func(t *testing.T) clichain.Backend { return cli(t, idle, "") }, "", true},
		"a tool":             {func(t *testing.T) clichain.Backend { return cli(t, acted, "") }, "", false},
		"tools not shown":    {func(t *testing.T) clichain.Backend { return cli(t, idle, clispec.OutputJSON) }, "", false},
		"a tool, replayed":   {func(t *testing.T) clichain.Backend { return cli(t, acted, "") }, clichain.ReplayAlways, true},
		"no tool, no replay": {func(t *testing.T) clichain.Backend { return cli(t, idle, "") }, clichain.ReplayNever, false},
		"a function":         {func(*testing.T) clichain.Backend { return &chaintest.Backend{ID: "a"} }, "", false},
		"a copy":             {func(*testing.T) clichain.Backend { return copied }, "", true},
		"no tool, wrapped": {func(t *testing.T) clichain.Backend {
			p := cli(t, idle, "")
			return clichain.BackendFunc("a", p.Complete) // the function may do more than its backend
		}, "", false},
		"no tool in a nested chain": {func(t *testing.T) clichain.Backend {
			return clichain.ChainOf([]clichain.Backend{chaintest.Failing("x", clichain.ReasonNotInstalled), cli(t, idle, "")}, nil)
		}, "", true},
		"a tool in a nested chain": {func(t *testing.T) clichain.Backend {
			return clichain.ChainOf([]clichain.Backend{cli(t, acted, "")}, nil)
		}, "", false},
		"a tool of an earlier backend in a nested chain": {func(t *testing.T) clichain.Backend {
			x := chaintest.Failing("x", clichain.ReasonExit)
			x.Err.(*clichain.BackendError).SideEffects = true
			return clichain.ChainOf([]clichain.Backend{x, cli(t, idle, "")}, &clichain.ChainConfig{Replay: clichain.ReplayAlways})
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			req, next := clichain.Prompt("hi"), &chaintest.Backend{ID: "b"}
			req.Access, req.Dir = clichain.AccessFull, t.TempDir()
			resp, err := accepting(t, refusing("a"), req, clichain.ChainConfig{Replay: test.replay}, test.first(t), next)
			require.Equal(t, test.next, next.Asked == 1, "%v %+v", err, resp)
			if !test.next {
				require.ErrorIs(t, err, clichain.ErrRejected)
				failed, _ := errors.AsType[*clichain.ChainError](err)
				require.NotEmpty(t, failed.Note)
			}
		})
	}
}
