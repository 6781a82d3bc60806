package billing_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The CLI's output about itself, and the failure of its list of models, contain no secret of its environment.
func TestProbesHoldNoSecrets(t *testing.T) {
	clitest.NoLeaks(t)
	const secret = "secret-value-of-a-test"
	t.Setenv("OPENAI_API_KEY", secret)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Stderr: "401 for " + secret + "\n"}, chaintest.Stdout("version of "+secret+"\n"), clitest.Exit(1)))
	out, err := p.Probe(t.Context(), []string{"--version"}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "version of [redacted]\n", out.Stdout)
	require.Equal(t, "401 for [redacted]\n", out.Stderr)
	_, err = p.Models(t.Context())
	be := chaintest.RequireReason(t, clichain.ReasonExit, err)
	require.Equal(t, "401 for [redacted]", be.Stderr)
	require.NotContains(t, err.Error(), secret)
}

// No part of a call contains a secret of an MCP server.
func TestSecretsOfServers(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	const token, header = "token-of-a-server", "header-of-a-server"
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin,
		clitest.Step{Stderr: "failed to start: " + token + "\n"}, chaintest.Stdout(chaintest.FailedLine("API Error: 401 for "+header)+"\n"), clitest.Exit(1)))
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessWrite
	req.Options.MCPConfig = []json.RawMessage{json.RawMessage(
		`{"mcpServers":{"a":{"command":"a","env":{"A_TOKEN":"` + token + `"}},"b":{"url":"https://b","headers":{"X-Auth":"` + header + `"}}}}`)}
	_, err := p.Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonUnauthenticated, err)
	require.Equal(t, "API Error: 401 for [redacted]", be.Message)
	require.Equal(t, "failed to start: [redacted]", be.Stderr)
}

// A message or hint from any source contains no secret of the environment.
func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "secret-value-of-a-test"
	exit, none := clitest.Exit(1), clispec.LineRule{Pattern: "none", Reason: clichain.ReasonExit}
	for name, test := range map[string]struct {
		outputs []clispec.OutputMode
		line    clispec.LineRule
		steps   []clitest.Step
	}{
		"a fatal line":          {nil, clispec.LineRule{Pattern: "refused", Reason: clichain.ReasonUnauthenticated, Fatal: true}, []clitest.Step{{Stderr: "refused: " + secret + "\n"}, exit}},
		"a line":                {nil, clispec.LineRule{Pattern: "refused", Reason: clichain.ReasonUnauthenticated}, []clitest.Step{{Stderr: "refused: " + secret + "\n"}, exit}},
		"its message":           {nil, clispec.LineRule{Pattern: "refused: (?P<message>.*)", Reason: clichain.ReasonUnauthenticated}, []clitest.Step{chaintest.Stdout("refused: " + secret + "\n"), exit}},
		"its hint":              {nil, clispec.LineRule{Pattern: "refused: (?P<message>.*)", Hint: "not {message}", Reason: clichain.ReasonUnauthenticated, Fatal: true}, []clitest.Step{{Stderr: "refused: " + secret + "\n"}, exit}},
		"an event":              {[]clispec.OutputMode{clispec.OutputStream}, none, []clitest.Step{chaintest.Stdout(`{"type":"error","message":"too many requests for ` + secret + `"}` + "\n"), exit}},
		"a terminal event":      {[]clispec.OutputMode{clispec.OutputStream}, none, []clitest.Step{chaintest.Stdout(`{"type":"end","message":"401 for ` + secret + `"}` + "\n"), exit}},
		"a document":            {[]clispec.OutputMode{clispec.OutputJSON}, none, []clitest.Step{chaintest.Stdout(`{"type":"end","message":"401 for ` + secret + `"}` + "\n"), exit}},
		"in colours":            {nil, clispec.LineRule{Pattern: "refused: (?P<message>.*)", Reason: clichain.ReasonUnauthenticated}, []clitest.Step{{Stderr: "refused: " + secret[:9] + "\x1b[1m" + secret[9:] + "\x1b[0m\n"}, exit}},
		"colours in an event":   {[]clispec.OutputMode{clispec.OutputStream}, none, []clitest.Step{chaintest.Stdout(`{"type":"end","message":"401 for ` + secret[:9] + "\\u001b[1m" + secret[9:] + `"}` + "\n"), exit}},
		"colours in a document": {[]clispec.OutputMode{clispec.OutputJSON}, none, []clitest.Step{chaintest.Stdout(`{"type":"end","message":"401 for ` + secret[:9] + "\\u001b[1m" + secret[9:] + `"}` + "\n"), exit}},
		"no explanation":        {nil, none, []clitest.Step{{Stderr: "what is " + secret + "?\n"}, exit}},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			spec := clichain.CliSpec{Name: "mini", Binary: "mini", Outputs: test.outputs, Lines: []clispec.LineRule{test.line}, Events: []clispec.EventRule{
				{Match: map[string]string{"type": "error"}, Kind: clichain.EventError, Set: map[string]string{"message": "message"}},
				{Match: map[string]string{"type": "end"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"message": "message", "failed": "=true"}},
			}}
			p := chaintest.Provider(t, spec, clichain.Config{Env: []string{"MINI_API_KEY=" + secret}}, chaintest.Play(test.steps...))
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			var be *clichain.BackendError
			require.ErrorAs(t, err, &be)
			said := be.Message + be.Hint + be.Stderr + err.Error()
			require.NotContains(t, said, secret)
			require.Contains(t, said, "[redacted]")
		})
	}
}
