package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// mcpServer is the argument that makes this test binary an MCP server. It is not an environment variable, because
// some CLIs do not pass variables on.
const mcpServer = "play-mcp-server"

// playMCPServer never returns in a process that runs as the server. The tests would start the server again.
func playMCPServer() {
	if len(os.Args) < 2 || os.Args[1] != mcpServer {
		return
	}
	requests, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r mcpRequest
		if requests.Decode(&r) != nil {
			os.Exit(0) // the CLI closed the connection
		}
		if len(r.ID) == 0 {
			continue // a notification
		}
		if err := answers.Encode(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": r.result()}); err != nil {
			os.Exit(1)
		}
	}
}

type mcpRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string             `json:"protocolVersion"`
		Arguments       map[string]float64 `json:"arguments"`
	} `json:"params"`
}

// result offers one tool, which adds two numbers.
func (r mcpRequest) result() any {
	type object = map[string]any
	switch r.Method {
	case "initialize":
		return object{"protocolVersion": r.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "probe", "version": "1"}}
	case "tools/list":
		number := object{"type": "number"}
		return object{"tools": []any{object{"name": "add", "description": "adds two numbers",
			"inputSchema": object{"type": "object", "properties": object{"a": number, "b": number}}}}}
	case "tools/call":
		text := fmt.Sprintf("the sum is %v", r.Params.Arguments["a"]+r.Params.Arguments["b"])
		return object{"content": []any{object{"type": "text", "text": text}}}
	}
	return object{}
}

// The CLI offers the tool of an MCP server to the model, runs it and returns its result. The server ends with the
// call.
func TestMCPServer(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	args := map[string]any{"a": 2, "b": 3}
	for name, test := range map[string]struct {
		access  clichain.Access
		model   string
		tool    string
		call    loopback.Reply
		allowed []string
	}{
		home.Claude: {clichain.AccessWrite, "", "mcp__probe__add", loopback.Tool("mcp__probe__add", args), []string{"mcp__probe"}},
		// For models that it knows, codex hides the tool behind a search.
		home.Codex:    {clichain.AccessFull, "gpt-loopback", "mcp__probe", loopback.ToolOf("mcp__probe", "add", args), nil},
		home.OpenCode: {clichain.AccessWrite, "", "probe_add", loopback.Tool("probe_add", args), nil},
	} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(test.call, loopback.Text(hello)))
			_, token := waiter()
			req := c.askIn(test.access, "add 2 and 3")
			req.Model, req.Options.AllowedTools = test.model, test.allowed
			req.Options.MCPConfig = []json.RawMessage{fmt.Appendf(nil, `{"mcpServers": {"probe": {"command": %q, "args": [%q, %q]}}}`, self, mcpServer, token)}
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, c.Status("").Confined[test.access], resp.Confined)
			require.Empty(t, withArgument(t, token), "the server outlives the call")
			calls := c.server.Calls()
			require.Len(t, calls, 2)
			require.Contains(t, string(calls[0].Body), test.tool)
			require.Contains(t, strings.Join(calls[1].Results(), "\n"), "the sum is 5")
		})
	}
}

// The built-in spec of gemini does not support MCP servers.
func TestGeminiRejectsMCPServer(t *testing.T) {
	c := start(t, home.Gemini, home.LoggedIn, longTimeout, nil)
	req := c.agent()
	req.Options.MCPConfig = []json.RawMessage{json.RawMessage(`{"mcpServers": {"probe": {"command": "false"}}}`)}
	starts, err := c.starts(t, req)
	require.ErrorIs(t, err, clichain.ErrUnsupported)
	require.Zero(t, starts)
}
