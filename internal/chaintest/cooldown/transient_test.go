package cooldown_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// A transient failure is retried once, and the first attempt is recorded.
func TestTransientFailureIsRetriedOnce(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	overloaded := []clitest.Step{chaintest.Stdout(`{"type":"turn.failed","error":{"message":"server overloaded"}}` + "\n"), clitest.Exit(1)}
	t.Run("then answers", func(t *testing.T) {
		t.Parallel()
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: overloaded}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("second"))},
		})
		resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "second", resp.Text)
		require.Len(t, resp.Attempts, 1)
		require.Equal(t, clichain.ReasonOverloaded, resp.Attempts[0].Reason)
		require.False(t, resp.Attempts[0].Skipped)
	})
	t.Run("no third attempt", func(t *testing.T) {
		t.Parallel()
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: overloaded}, {Once: true, Steps: overloaded}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("third"))},
		})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		be := chaintest.RequireReason(t, clichain.ReasonOverloaded, err)
		require.Len(t, be.Earlier, 1)
	})
	t.Run("not with a session ID that is now in use", func(t *testing.T) {
		t.Parallel()
		failed := []clitest.Step{chaintest.Stdout(`{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"overloaded"}` + "\n"), clitest.Exit(1)}
		p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: failed}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine("twice") + "\n")},
		})
		req := clichain.Prompt("hi")
		req.Options.SessionID = chaintest.AnID
		_, err := p.Complete(t.Context(), req)
		require.Empty(t, chaintest.RequireReason(t, clichain.ReasonOverloaded, err).Earlier)
	})
	t.Run("not after a login failure", func(t *testing.T) {
		t.Parallel()
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{{Stderr: "Not logged in\n"}, clitest.Exit(1)}}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("no"))},
		})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		chaintest.RequireReason(t, clichain.ReasonUnauthenticated, err)
	})
	t.Run("not if a tool may have changed something", func(t *testing.T) {
		t.Parallel()
		wrote := append([]clitest.Step{chaintest.Stdout(`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"touch x"}}` + "\n")}, overloaded...)
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: wrote}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("twice"))},
		})
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessWrite
		_, err := p.Complete(t.Context(), req)
		require.True(t, chaintest.RequireReason(t, clichain.ReasonOverloaded, err).SideEffects)
	})
}
