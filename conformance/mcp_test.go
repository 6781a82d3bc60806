package conformance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// peers are the two CLIs that ask each other through "clichain mcp".
var peers = map[string]struct {
	other  string
	access clichain.Access
	model  string
	call   func(tool string, args map[string]any) loopback.Reply
}{
	home.Claude: {home.Codex, clichain.AccessWrite, "", func(tool string, args map[string]any) loopback.Reply {
		return loopback.Tool("mcp__clichain__"+tool, args)
	}},
	// For models that it knows, codex hides the tools behind a search.
	home.Codex: {home.Claude, clichain.AccessFull, "gpt-loopback", func(tool string, args map[string]any) loopback.Reply {
		return loopback.ToolOf("mcp__clichain", tool, args)
	}},
}

const (
	secondAnswer = "an answer of the other agent"
	innerPrompt  = "a question for the other agent"
)

// asking lets a CLI call a tool of "clichain mcp". Both CLIs have the same model server.
func asking(t *testing.T, program, name, tool string, flags ...string) cli {
	t.Helper()
	peer := peers[name]
	c := start(t, name, home.LoggedIn, flagsOnly, loopback.InOrder(
		peer.call(tool, map[string]any{"prompt": innerPrompt}), loopback.Text(secondAnswer), loopback.Text(hello)))
	other := home.New(t, peer.other, c.server.URL, home.LoggedIn)
	// The script sets the environment of the other home, because the spec of codex refuses servers with variables.
	script := "#!/bin/sh\n"
	for _, pair := range append(other.Env, "PATH="+strings.Join([]string{
		filepath.Dir(c.home.Binary), filepath.Dir(other.Binary), os.Getenv("PATH"),
	}, ":")) {
		name, value, _ := strings.Cut(pair, "=")
		script += "export " + name + "='" + value + "'\n"
	}
	server := other.Write(t, "server", script+"exec '"+program+"' \"$@\"\n")
	require.NoError(t, os.Chmod(server, 0o700))
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"clichain": map[string]any{
		"command": server, "args": append([]string{
			"mcp", "--only", name + "," + peer.other, "--timeout", "60s", "--pass-env", "LOOPBACK_*", "--confine", "off",
		}, flags...),
	}}})
	require.NoError(t, err)
	req := c.askIn(peer.access, "ask the other agent")
	req.Model, req.Options.MCPConfig = peer.model, []json.RawMessage{config}
	if name == home.Claude {
		req.Options.AllowedTools = []string{"mcp__clichain"}
	}
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.NotEmpty(t, resp.Text)
	require.Empty(t, living(t, c.home), "processes of the agent")
	require.Empty(t, living(t, other), "processes of the other agent")
	return c
}

// The model of a CLI calls a tool of "clichain mcp", which asks the CLI of another vendor.
func TestMCPBetweenAgents(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for name, peer := range peers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := asking(t, program, name, "second_opinion", "--max-depth", "2")
			calls := c.server.Calls()
			require.Len(t, calls, 3)
			require.Contains(t, string(calls[1].Body), innerPrompt)
			results := strings.Join(calls[2].Results(), "\n")
			require.Contains(t, results, secondAnswer)
			require.Contains(t, results, "Answered by "+peer.other)
		})
	}
}

// clichain started the agent that asks, and the default depth is 1. codex does not pass its environment to its MCP
// servers.
func TestMCPRefusesNestedCall(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for name := range peers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := asking(t, program, name, "ask")
			calls := c.server.Calls()
			require.Len(t, calls, 2)
			require.Contains(t, strings.Join(calls[1].Results(), "\n"), "answer without this tool")
		})
	}
}
