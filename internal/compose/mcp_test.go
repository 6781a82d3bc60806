package compose

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

// A server that may hold a secret never becomes an argument. The error names the server and the part, but not the
// value. The errors of other backends contain neither.
func TestServerSecretsStayOutOfArguments(t *testing.T) {
	const word = "s3cr3t-word"
	for _, test := range []struct{ name, server, part string }{
		{"nothing", `{"command":"npx","args":["-y","probe","--max-tokens","500"]}`, ""},
		{"plain URL", `{"url":"https://mcp.example.com/v1/mcp"}`, ""},
		{"variables", `{"command":"a","env":{"TOKEN":"s3cr3t-word"}}`, "env"},
		{"headers", `{"url":"https://mcp.example.com","headers":{"X-Key":"s3cr3t-word"}}`, "headers"},
		{"a user", `{"url":"https://s3cr3t-word@mcp.example.com"}`, "url"},
		{"a password", `{"url":"https://user:s3cr3t-word@mcp.example.com"}`, "url"},
		{"a query", `{"url":"https://mcp.example.com/?k=s3cr3t-word"}`, "url"},
		{"a fragment", `{"url":"https://mcp.example.com/#s3cr3t-word"}`, "url"},
		{"flag with equals sign", `{"command":"a","args":["--token=s3cr3t-word"]}`, "args"},
		{"flag and value", `{"command":"a","args":["--api-key","s3cr3t-word"]}`, "args"},
		{"variable in the arguments", `{"command":"env","args":["PASSWORD=s3cr3t-word","a"]}`, "args"},
		{"header in the arguments", `{"command":"a","args":["--header","Authorization: Bearer s3cr3t-word"]}`, "args"},
		{"URL in the arguments", `{"command":"npx","args":["mcp-remote","https://mcp.example.com/?k=s3cr3t-word"]}`, "args"},
		{"shell command", `{"command":"sh","args":["-c","API_KEY=s3cr3t-word exec a"]}`, "args"},
		{"command with a secret", `{"command":"a --password s3cr3t-word"}`, "args"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := call.Prompt("hi")
			req.Access = call.AccessFull
			req.Options.MCPConfig = []json.RawMessage{json.RawMessage(`{"mcpServers":{"fine":{"command":"x"},"mine":` + test.server + `}}`)}
			inv, err := composerOf(t, specs.Codex()).Compose(req, Choice{}, testHost())
			_, none := composerOf(t, specs.Gemini()).Compose(req, Choice{}, testHost())
			require.ErrorIs(t, none, call.ErrUnsupported)
			require.NotContains(t, none.Error(), word)
			if test.part == "" {
				require.Nil(t, err)
				require.Contains(t, strings.Join(inv.Args, "\n"), "mcp_servers.mine=")
				return
			}
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Equal(t, "mcp_config", err.Option)
			require.Contains(t, err.Message, `server "mine": its `+test.part+" may hold a secret")
			require.NotContains(t, err.Error(), word)
		})
	}
}
