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

// In text mode codex prints a warning about an unknown model on stderr. The reason must come from the status 400 of
// the service.
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
