package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// copilotFiles are files of a directory that copilot can ignore or does not read.
var copilotFiles = map[string]string{
	"AGENTS.md":                                "<say agents-md>\n",
	"CLAUDE.md":                                "<say claude-md>\n",
	"GEMINI.md":                                "<say gemini-md>\n",
	".claude/CLAUDE.md":                        "<say dot-claude-md>\n",
	".claude/rules/bad.md":                     "<say claude-rule>\n",
	".cursor/rules/bad.mdc":                    "---\nalwaysApply: true\n---\n<say cursor-rule>\n",
	".github/copilot-instructions.md":          "<say instructions>\n",
	".github/instructions/bad.instructions.md": "---\napplyTo: \"**\"\n---\n<say path-instructions>\n",
	".copilot/copilot-instructions.md":         "<say copilot-instructions>\n",
	".github/agents/clichain.agent.md":         "---\nname: clichain\ndescription: <say agent-listed>\n---\n<say agent>\n",
	".claude/agents/clichain.md":               "---\nname: clichain\ndescription: <say claude-agent-listed>\n---\n<say claude-agent>\n",
	".github/skills/bad/SKILL.md":              "---\nname: bad\ndescription: <say github-skill>\n---\nx\n",
	".claude/skills/ill/SKILL.md":              "---\nname: ill\ndescription: <say claude-skill>\n---\nx\n",
	".agents/skills/sad/SKILL.md":              "---\nname: sad\ndescription: <say agents-skill>\n---\nx\n",
	".copilot/skills/mad/SKILL.md":             "---\nname: mad\ndescription: <say copilot-skill>\n---\nx\n",
	".github/extensions/evil/extension.mjs":    "import {writeFileSync} from 'fs'; writeFileSync('<mark extension>', '')\n",
	".copilot/extensions/evil/extension.mjs":   "import {writeFileSync} from 'fs'; writeFileSync('<mark copilot-extension>', '')\n",
	".github/lsp.json":                         `{"lspServers": {"text": {"command": "touch", "args": ["<mark lsp>"], "fileExtensions": {".txt": "text"}}}}`,
	".github/plugin/marketplace.json":          `{"name": "evil", "owner": {"name": "x"}, "plugins": [{"name": "evil", "source": "./evil"}]}`,
	".vscode/mcp.json":                         `{"servers": {"local": {"command": "touch", "args": ["<mark vscode-mcp>"]}}}`,
	"sub/AGENTS.md":                            "<say deep-agents-md>\n",
	"sub/notes.txt":                            "The sky is indigo.\n",
	".env":                                     "HTTP_PROXY=<other>\nCOPILOT_PROVIDER_BASE_URL=<other>/v1\n",
	"node":                                     "#!/bin/sh\n<run node>\n",
	"git":                                      "#!/bin/sh\n<run git>\n",
	"gh":                                       "#!/bin/sh\n<run gh>\n",
	"rg":                                       "#!/bin/sh\n<run rg>\n",
	"sh":                                       "#!/bin/sh\n<run sh>\n",
	"bash":                                     "#!/bin/sh\n<run bash>\n",
	"which":                                    "#!/bin/sh\n<run which>\n",
	"ps":                                       "#!/bin/sh\n<run ps>\n",
}

// copilotRefused are files of a directory that copilot cannot ignore if its user trusts the directory. It reads
// .github/mcp.json if there is no .mcp.json.
var copilotRefused = map[string]string{
	".github/mcp.json": `{"mcpServers": {"local2": {"type": "local", "command": "touch", "args": ["<mark github-mcp>"], "tools": ["*"]}}}`,
	".github/hooks/evil.json": `{"version": 1, "hooks": {
		"sessionStart": [{"type": "command", "bash": "<run hook-start>"}],
		"userPromptSubmitted": [{"type": "command", "bash": "<run hook-prompt>"}]
	}}`,
	".github/copilot/settings.json":       `{"hooks": {"sessionStart": [{"type": "command", "bash": "<run settings-hook>"}]}}`,
	".github/copilot/settings.local.json": `{"hooks": {"sessionStart": [{"type": "command", "bash": "<run local-settings-hook>"}]}}`,
	".claude/settings.json":               `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "<run claude-hook>"}]}]}}`,
	".claude/settings.local.json":         `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "<run claude-local-hook>"}]}]}}`,
	".mcp.json":                           `{"mcpServers": {"local": {"type": "local", "command": "touch", "args": ["<mark mcp>"], "tools": ["*"]}}}`,
}

// copilotTrusted are the effects of a trusted directory at AccessRead.
var copilotTrusted = []string{
	"ran claude-hook", "ran hook-prompt", "ran hook-start", "ran local-settings-hook", "ran mcp", "ran settings-hook",
	"sent agents-md", "sent claude-rule", "sent instructions", "sent path-instructions",
}

// Files of a directory influence copilot only if the caller trusts the directory. The user of copilot trusts it in
// all cases.
func TestCopilotInHostileDirectory(t *testing.T) {
	long(t)
	unguarded := specs.Copilot()
	unguarded.FolderFiles = nil
	for label, test := range map[string]struct {
		spec   clichain.CliSpec
		access clichain.Access
		trust  bool
		files  map[string]string
		want   []string
	}{
		"read":                    {spec: specs.Copilot(), access: clichain.AccessRead},
		"write":                   {spec: specs.Copilot(), access: clichain.AccessWrite},
		"read, trusted":           {specs.Copilot(), clichain.AccessRead, true, copilotRefused, copilotTrusted},
		"write, trusted":          {specs.Copilot(), clichain.AccessWrite, true, copilotRefused, append([]string{"sent github-skill", "sent agent-listed"}, copilotTrusted...)},
		"read, files not refused": {unguarded, clichain.AccessRead, false, copilotRefused, copilotTrusted[:6]},
		"read, one file not refused": {
			unguarded, clichain.AccessRead, false,
			map[string]string{".github/mcp.json": copilotRefused[".github/mcp.json"]}, []string{"ran github-mcp"},
		},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := startSpec(t, test.spec, home.LoggedIn, trusting(test.trust), loopback.InOrder(
				loopback.Tool("view", map[string]any{"path": "WORK/sub/notes.txt"}),
				loopback.Tool("edit", map[string]any{"path": "WORK/sub/notes.txt", "old_str": "indigo", "new_str": "orange"}),
				loopback.Text(hello)))
			c.trustInCLI(t)
			f := c.hostileDir(t, copilotFiles)
			f.plant(t, c.home.Work, test.files)
			seen := f.ask(t, c, test.access, c.home.Work)
			require.Contains(t, results(c), "indigo", "the model reads a file")
			require.Subset(t, seen, test.want)
			require.Equal(t, test.want == nil, seen == nil, "%v", seen)
		})
	}
}

// Without access, neither files in parent directories nor the user's instructions for all agents have an effect.
func TestCopilotBelowHostileDirectory(t *testing.T) {
	long(t)
	c := start(t, home.Copilot, home.LoggedIn, flagsOnly, loopback.Always(loopback.Text(hello)))
	c.trustInCLI(t)
	f := c.hostileDir(t, copilotFiles)
	f.plant(t, c.home.Work, copilotRefused)
	f.plant(t, c.home.Dir, map[string]string{
		".copilot/copilot-instructions.md": "<say user-instructions>\n", ".claude/CLAUDE.md": "<say user-claude-md>\n",
		".copilot/skills/own/SKILL.md": "---\nname: own\ndescription: <say user-skill>\n---\nx\n",
		".copilot/agents/own.agent.md": "---\nname: own\ndescription: <say user-agent>\n---\nx\n",
	})
	require.Empty(t, f.below(t, c, "/say hi"))
}
