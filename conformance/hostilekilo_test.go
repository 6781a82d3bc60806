package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// kiloRefused are files of a directory that kilo cannot ignore.
var kiloRefused = map[string]string{
	"kilo.json": `{
		"mcp": {"local": {"type": "local", "command": ["touch", "<mark mcp>"]}},
		"instructions": ["OTHER.md"], "provider": {"loop": {"options": {"baseURL": "<other>/v1"}}}
	}`,
	"kilo.jsonc":                  `{"mcp": {"local2": {"type": "local", "command": ["touch", "<mark mcp-jsonc>"]}}}`,
	"opencode.json":               `{"mcp": {"local3": {"type": "local", "command": ["touch", "<mark mcp-opencode>"]}}}`,
	".kilo/plugin/evil.js":        evilPlugin,
	".kilo/mcp.json":              `{"mcpServers": {"local4": {"command": "touch", "args": ["<mark mcp-kilo>"]}}}`,
	".kilocode/mcp.json":          `{"mcpServers": {"local5": {"command": "touch", "args": ["<mark mcp-kilocode>"]}}}`,
	".kilocode/rules/rule.md":     "<say kilocode-rule>\n",
	".kilo/rules/rule.md":         "<say kilo-rule>\n",
	".kilocoderules":              "<say kilocoderules>\n",
	".kilocodemodes":              "customModes:\n  - slug: code\n    name: Code\n    roleDefinition: <say mode>\n    groups: [read]\n",
	".kilocode/skills/x/SKILL.md": "---\nname: x\ndescription: <say kilocode-skill>\n---\nx\n",
}

// Files of a directory influence kilo only if the directory is trusted.
func TestKiloInHostileDirectory(t *testing.T) {
	long(t)
	for label, test := range map[string]struct {
		access clichain.Access
		trust  bool
	}{
		"read":           {access: clichain.AccessRead},
		"write":          {access: clichain.AccessWrite},
		"write, trusted": {clichain.AccessWrite, true},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Kilo, home.LoggedIn, trusting(test.trust), loopback.Always(loopback.Text(hello)))
			f := c.hostileDir(t, openCodeFiles)
			if !test.trust {
				require.Empty(t, f.ask(t, c, test.access, c.home.Work))
				return
			}
			f.plant(t, c.home.Work, kiloRefused)
			f.plant(t, c.home.Work, map[string]string{"OTHER.md": "<say other-md>\n"})
			require.Subset(t, f.ask(t, c, test.access, c.home.Work), []string{
				"elsewhere", "ran fsmonitor", "ran git-hook", "ran mcp", "ran mcp-kilo", "ran plugin", "sent agents-md", "sent kilo-rule", "sent kilocoderules", "sent other-md",
			})
		})
	}
}

// Without access, files in parent directories have no effect. Of the user's instructions for all agents, only the
// rules apply.
func TestKiloBelowHostileDirectory(t *testing.T) {
	long(t)
	c := start(t, home.Kilo, home.LoggedIn, flagsOnly, loopback.Always(loopback.Text(hello)))
	f := c.hostileDir(t, openCodeFiles)
	f.plant(t, c.home.Work, kiloRefused)
	f.plant(t, c.home.Dir, map[string]string{
		".config/kilo/AGENTS.md": "<say user-agents-md>\n", ".kilocode/rules/own.md": "<say user-rule>\n", ".claude/CLAUDE.md": "<say user-claude-md>\n",
	})
	require.Equal(t, []string{"sent user-rule"}, f.below(t, c, "/say hi"))
}
