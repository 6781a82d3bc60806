package compose

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

const hostToken = "s3cr3t-word"

func toolHost(servers ...[]string) Host {
	h := testHost()
	h.Tools = &call.HostTools{URL: "http://127.0.0.1:9/path", Token: hostToken}
	h.Servers = servers
	return h
}

// The token is in no argument, and only in the variable of a CLI that reads it from nothing else.
func TestHostToolsAtEachLevel(t *testing.T) {
	for _, spec := range specs.Every() {
		var levels []call.Access
		for _, access := range allAccess {
			req := call.Prompt("hi")
			if req.Access = access; access > call.AccessNone {
				req.Dir = "/work"
			}
			inv, err := composerOf(t, spec).Compose(req, Choice{}, toolHost())
			if err != nil {
				require.Equal(t, call.ReasonUnsupported, err.Reason, "%s %s: %v", spec.Name, access, err)
				require.NotContains(t, err.Error(), "127.0.0.1")
				continue
			}
			levels = append(levels, access)
			require.NotContains(t, strings.Join(inv.Args, "\n"), hostToken)
			for _, kv := range inv.Env {
				require.True(t, !strings.Contains(kv, hostToken) || kv == "CLICHAIN_TOOLS_TOKEN="+hostToken, "%s %s", spec.Name, kv)
			}
			require.NotContains(t, inv.Env, "CLAUDE_CODE_SAFE_MODE=1")
			req.Model = map[string]string{"opencode": "p/m"}[spec.Name]
			live, err := composerOf(t, spec).Compose(req, Choice{Output: clispec.OutputLive}, toolHost())
			require.Equal(t, spec.Name != "codex" || access != call.AccessRead, err == nil, "%s %s", spec.Name, access)
			if err == nil {
				require.NotContains(t, strings.Join(live.Args, "\n"), hostToken)
			}
		}
		want := map[string][]call.Access{"claude": allAccess, "codex": allAccess, "opencode": allAccess, "gemini": {call.AccessNone}}[spec.Name]
		require.Equal(t, want, levels, spec.Name)
	}
}

func TestHostToolsTurnOwnServersOff(t *testing.T) {
	req := call.Prompt("hi")
	inv, err := composerOf(t, specs.Codex()).Compose(req, Choice{}, toolHost([]string{"b", "a"}, []string{"a"}, []string{"untrusted"}))
	require.Nil(t, err)
	require.Equal(t, []string{"mcp_servers.a.enabled=false", "mcp_servers.b.enabled=false"}, filtered(inv.Args, "mcp_servers.", ".enabled="))
	require.Empty(t, inv.Call.Warnings)
	inv, err = composerOf(t, specs.Codex()).Compose(req, Choice{}, toolHost([]string{"a", ""}))
	require.Nil(t, err)
	require.Equal(t, []string{"mcp_servers.a.enabled=false"}, filtered(inv.Args, "mcp_servers.", ".enabled="))
	require.Equal(t, []string{"MCP servers of ${CODEX_HOME:-~/.codex}/config.toml may have run beside the functions of the caller, because their names are unknown"}, inv.Call.Warnings)

	inv, err = composerOf(t, specs.OpenCode()).Compose(req, Choice{}, toolHost([]string{`a"b`, "c"}))
	require.Nil(t, err)
	var config struct {
		MCP map[string]map[string]any
	}
	content := filtered(inv.Env, "OPENCODE_CONFIG_CONTENT=")
	require.Len(t, content, 1)
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(content[0], "OPENCODE_CONFIG_CONTENT=")), &config))
	require.Equal(t, map[string]any{"enabled": false}, config.MCP[`a"b`])
	require.Equal(t, map[string]any{"enabled": false}, config.MCP["c"])
	require.Equal(t, "http://127.0.0.1:9/path", config.MCP["hosttools"]["url"])
}

// The settings of gemini are in a private directory, whose session cannot continue.
func TestHostToolsInPrivateDirectory(t *testing.T) {
	req, h := call.Prompt("hi"), toolHost()
	inv, err := composerOf(t, specs.Gemini()).Compose(req, Choice{}, h)
	require.Nil(t, err)
	require.True(t, inv.Private)
	require.Equal(t, filepath.Join(h.TempDir, "empty"), inv.Dir)
	require.Contains(t, inv.Env, "GEMINI_CLI_TRUST_WORKSPACE=true")
	require.Contains(t, inv.Env, "PWD="+inv.Dir)
	var found bool
	for _, f := range inv.Files {
		if f.Path == filepath.Join(inv.Dir, ".gemini", "settings.json") {
			found = true
			require.JSONEq(t, `{"mcpServers":{"hosttools":{"httpUrl":"http://127.0.0.1:9/path","headers":{"Authorization":"Bearer s3cr3t-word"}}}}`, f.Content)
		}
	}
	require.True(t, found)
	live, err := composerOf(t, specs.Gemini()).Compose(req, Choice{Output: clispec.OutputLive}, h)
	require.Nil(t, err)
	_, opened, _ := live.Call.Message(specs.Gemini().Live.Open, nil)
	require.JSONEq(t, fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, inv.Dir), string(opened))
	req.Session = "gemini:3f0e9a52-6f7c-4f57-8a3b-0d5f0a4b9c11"
	_, err = composerOf(t, specs.Gemini()).Compose(req, Choice{}, h)
	require.NotNil(t, err)
}

// opencode has no rows for the servers of a request beside the functions.
func TestHostToolsBesideServersOfRequest(t *testing.T) {
	req := call.Prompt("hi")
	req.Access, req.Dir = call.AccessWrite, "/work"
	req.Options.MCPConfig = []json.RawMessage{[]byte(`{"mcpServers":{"x":{"command":"x"}}}`)}
	_, err := composerOf(t, specs.OpenCode()).Compose(req, Choice{}, toolHost())
	require.NotNil(t, err)
	inv, err := composerOf(t, specs.Claude()).Compose(req, Choice{}, toolHost())
	require.Nil(t, err)
	require.Len(t, filtered(inv.Args, "--mcp-config="), 2)
	require.Contains(t, inv.Args, "--strict-mcp-config")
}

// filtered returns the texts that contain all parts.
func filtered(list []string, parts ...string) (found []string) {
	for _, s := range list {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s, part) }) {
			found = append(found, s)
		}
	}
	return found
}
