package clichain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// A transient failure is retried once, and the first attempt is recorded.
func TestTransientFailureIsRetriedOnce(t *testing.T) {
	clitest.NoLeaks(t)
	overloaded := []clitest.Step{stdout(`{"type":"turn.failed","error":{"message":"server overloaded"}}` + "\n"), clitest.Exit(1)}
	t.Run("then answers", func(t *testing.T) {
		t.Parallel()
		p := provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: overloaded}}, Steps: []clitest.Step{readStdin, stdout(codexAnswer("second"))},
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
		p := provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: overloaded}, {Once: true, Steps: overloaded}}, Steps: []clitest.Step{readStdin, stdout(codexAnswer("third"))},
		})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		be := requireReason(t, clichain.ReasonOverloaded, err)
		require.Len(t, be.Earlier, 1)
	})
	t.Run("not with a session ID that is now in use", func(t *testing.T) {
		t.Parallel()
		failed := []clitest.Step{stdout(`{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"overloaded"}` + "\n"), clitest.Exit(1)}
		p := provider(t, specs.Claude(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: failed}}, Steps: []clitest.Step{readStdin, stdout(resultLine("twice") + "\n")},
		})
		req := clichain.Prompt("hi")
		req.Options.SessionID = anID
		_, err := p.Complete(t.Context(), req)
		require.Empty(t, requireReason(t, clichain.ReasonOverloaded, err).Earlier)
	})
	t.Run("not after a login failure", func(t *testing.T) {
		t.Parallel()
		p := provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{{Stderr: "Not logged in\n"}, clitest.Exit(1)}}}, Steps: []clitest.Step{readStdin, stdout(codexAnswer("no"))},
		})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		requireReason(t, clichain.ReasonUnauthenticated, err)
	})
	t.Run("not if a tool may have changed something", func(t *testing.T) {
		t.Parallel()
		wrote := append([]clitest.Step{stdout(`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"touch x"}}` + "\n")}, overloaded...)
		p := provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{
			Cases: []clitest.Case{{Once: true, Steps: wrote}}, Steps: []clitest.Step{readStdin, stdout(codexAnswer("twice"))},
		})
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessWrite
		_, err := p.Complete(t.Context(), req)
		require.True(t, requireReason(t, clichain.ReasonOverloaded, err).SideEffects)
	})
}
