package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// TestCodexTextModeWarning: codex warns of a model that it does not know, in text mode on stderr. The service's status 400
// decides.
func TestCodexTextModeWarning(t *testing.T) {
	t.Parallel()
	cfg := longTimeout
	cfg.Output = clispec.OutputText
	c := start(t, home.Codex, home.LoggedIn, cfg, loopback.Always(loopback.Error(400, "invalid_request_error", "messages: at least one message is required")))
	req := clichain.Prompt("say hi")
	req.Model = "gpt-no-such-model"
	_, err := c.Complete(t.Context(), req)
	failed := call.AsError(home.Codex, err)
	require.Contains(t, failed.Stderr, "Model metadata for `gpt-no-such-model` not found")
	require.Equal(t, clichain.ReasonBadRequest, failed.Reason, "%+v", failed)
}
