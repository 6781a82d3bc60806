package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/specs"
)

func TestOwnServers(t *testing.T) {
	toml, config := specs.Codex().Servers[0], specs.OpenCode().Servers[0]
	for name, test := range map[string]struct {
		file clispec.ServerFile
		text string
		want []string
	}{
		"no server":       {toml, "model = \"x\"\n# [mcp_servers.old]\n", nil},
		"tables":          {toml, "[mcp_servers.one]\ncommand=\"a\"\n [ mcp_servers . two-2 ]\n[mcp_servers.two-2.env]\nA=\"b\"\n", []string{"one", "two-2", "two-2"}},
		"dotted keys":     {toml, "mcp_servers.one.command = \"a\"\nmcp_servers.two = {command=\"b\"}\n", []string{"one", "two"}},
		"quoted name":     {toml, "[mcp_servers.\"a.b\"]\n", []string{""}},
		"table of tables": {toml, "[mcp_servers]\none = {command=\"a\"}\n", []string{""}},
		"inline table":    {toml, "mcp_servers = {one={command=\"a\"}}\n", []string{""}},
		"profile":         {toml, "[profiles.x.mcp_servers.one]\n", []string{""}},
		"JSON":            {config, `{"mcp":{"one":{"type":"local"},"a\"b":{}}}`, []string{"one", `a"b`}},
		"comments":        {config, "{\"mcp\": /* x */ {\"one\": {\"url\":\"http://a\"}, // \"two\": {}\n}, }", []string{"one"}},
		"no servers":      {config, `{"model":"a/b"}`, nil},
		"no JSON":         {config, `{"mcp":{`, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			test.file.Path = "~/config"
			require.NoError(t, os.WriteFile(filepath.Join(home, "config"), []byte(test.text), 0o600))
			require.Equal(t, test.want, ownServers(test.file, grammar.Place{Home: home}))
		})
	}
	require.Empty(t, ownServers(clispec.ServerFile{Path: "~/none", JSON: "mcp"}, grammar.Place{Home: t.TempDir()}))
	require.Equal(t, []string{""}, ownServers(clispec.ServerFile{Path: "~", JSON: "mcp"}, grammar.Place{Home: t.TempDir()}), "a directory")
}
