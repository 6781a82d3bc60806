package clichain_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// What a CLI prints about itself, and the failure of its list of models, hold no
// secret of its environment either.
func TestProbesHoldNoSecrets(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	const secret = "secret-value-of-a-test"
	t.Setenv("OPENAI_API_KEY", secret)
	p := provider(t, specs.Codex(), clichain.Config{}, play(clitest.Step{Stderr: "401 for " + secret + "\n"}, stdout("version of "+secret+"\n"), clitest.Exit(1)))
	out, err := p.Probe(t.Context(), []string{"--version"}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "version of [redacted]\n", out.Stdout)
	require.Equal(t, "401 for [redacted]\n", out.Stderr)
	_, err = p.Models(t.Context())
	be := requireReason(t, clichain.ReasonExit, err)
	require.Equal(t, "401 for [redacted]\n", be.Stderr)
	require.NotContains(t, err.Error(), secret)
}

// Nor does anything of a call hold a secret that an MCP server was given.
func TestSecretsOfServers(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	const token, header = "token-of-a-server", "header-of-a-server"
	p := provider(t, specs.Claude(), clichain.Config{}, play(readStdin,
		clitest.Step{Stderr: "failed to start: " + token + "\n"}, stdout(failedLine("API Error: 401 for "+header)+"\n"), clitest.Exit(1)))
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessWrite
	req.Options.MCPConfig = []json.RawMessage{json.RawMessage(
		`{"mcpServers":{"a":{"command":"a","env":{"A_TOKEN":"` + token + `"}},"b":{"url":"https://b","headers":{"X-Auth":"` + header + `"}}}}`)}
	_, err := p.Complete(t.Context(), req)
	be := requireReason(t, clichain.ReasonUnauthenticated, err)
	require.Equal(t, "API Error: 401 for [redacted]", be.Message)
	require.Equal(t, "failed to start: [redacted]\n", be.Stderr)
}
