package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// kimiFiles are files of a directory that kimi can ignore or does not read.
var kimiFiles = map[string]string{
	"AGENTS.md":                         "<say agents-md>\n",
	"CLAUDE.md":                         "<say claude-md>\n",
	".kimi-code/AGENTS.md":              "<say kimi-agents-md>\n",
	".kimi-code/SYSTEM.md":              "<say system-md>\n",
	".kimi-code/config.toml":            "[[hooks]]\nevent = \"SessionStart\"\ncommand = \"<run hook-start>\"\n\n[[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = \"<run hook-prompt>\"\n",
	".kimi-code/agents/clichain.md":     "---\nname: clichain\ndescription: <say agent-listed>\noverride: true\n---\n<say agent>\n",
	".agents/agents/clichain.md":        "---\nname: clichain\ndescription: <say agents-agent-listed>\noverride: true\n---\n<say agents-agent>\n",
	".kimi-code/agents/agent.md":        "---\nname: agent\ndescription: <say default-listed>\noverride: true\n---\n<say default>\n",
	".kimi-code/skills/bad/SKILL.md":    "---\nname: bad\ndescription: <say kimi-skill>\n---\nx\n",
	".agents/skills/ill/SKILL.md":       "---\nname: ill\ndescription: <say agents-skill>\n---\nx\n",
	".claude/skills/sad/SKILL.md":       "---\nname: sad\ndescription: <say claude-skill>\n---\nx\n",
	".env":                              "KIMI_MODEL_BASE_URL=<other>/v1\nHTTP_PROXY=<other>\n",
	"added/AGENTS.md":                   "<say added-agents-md>\n",
	"added/.agents/skills/far/SKILL.md": "---\nname: far\ndescription: <say added-skill>\n---\nx\n",
	"sub/AGENTS.md":                     "<say deep-agents-md>\n",
	"sub/notes.txt":                     "The sky is indigo.\n",
	"node":                              "#!/bin/sh\n<run node>\n",
	"git":                               "#!/bin/sh\n<run git>\n",
	"rg":                                "#!/bin/sh\n<run rg>\n",
	"sh":                                "#!/bin/sh\n<run sh>\n",
	"bash":                              "#!/bin/sh\n<run bash>\n",
	"uname":                             "#!/bin/sh\n<run uname>\n",
	"which":                             "#!/bin/sh\n<run which>\n",
	"npm":                               "#!/bin/sh\n<run npm>\n",
}

// kimiRefused are files of a directory that kimi cannot ignore if its user trusts the directory.
var kimiRefused = map[string]string{
	".kimi-code/local.toml": "[workspace]\nadditional_dir = [\"added\"]\n",
	".mcp.json":             `{"mcpServers": {"local": {"command": "touch", "args": ["<mark mcp>"]}}}`,
	".kimi-code/mcp.json":   `{"mcpServers": {"local2": {"command": "touch", "args": ["<mark kimi-mcp>"]}}}`,
}

// Files of a directory influence kimi only if the caller trusts the directory. The user of kimi trusts it in all
// cases. AccessFull trusts it as well. kimi has no AccessWrite.
func TestKimiInHostileDirectory(t *testing.T) {
	long(t)
	unguarded := specs.Kimi()
	unguarded.FolderFiles = nil
	servers := []string{"ran kimi-mcp", "ran mcp"}
	for label, test := range map[string]struct {
		spec   clichain.CliSpec
		access clichain.Access
		trust  bool
		files  map[string]string
		want   []string
	}{
		"read":                    {spec: specs.Kimi(), access: clichain.AccessRead},
		"read, trusted":           {specs.Kimi(), clichain.AccessRead, true, kimiRefused, servers},
		"read, files not refused": {unguarded, clichain.AccessRead, false, kimiRefused, servers},
		"full":                    {specs.Kimi(), clichain.AccessFull, false, kimiRefused, append([]string{"sent default"}, servers...)},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := startSpec(t, test.spec, home.LoggedIn, withOwnNode(t, home.Kimi, trusting(test.trust)), loopback.InOrder(
				loopback.Tool("Read", map[string]any{"path": "sub/notes.txt"}), loopback.Text(hello)))
			c.trustInCLI(t)
			f := c.hostileDir(t, kimiFiles)
			f.plant(t, c.home.Work, test.files)
			seen := f.ask(t, c, test.access, c.home.Work)
			require.Contains(t, results(c), "indigo", "the model reads a file")
			require.Subset(t, seen, test.want)
			require.Equal(t, test.want == nil, seen == nil, "%v", seen)
		})
	}
}

// Without access, neither files in parent directories nor the user's instructions for all agents have an effect.
func TestKimiBelowHostileDirectory(t *testing.T) {
	long(t)
	c := start(t, home.Kimi, home.LoggedIn, flagsOnly, loopback.Always(loopback.Text(hello)))
	c.trustInCLI(t)
	f := c.hostileDir(t, kimiFiles)
	f.plant(t, c.home.Work, kimiRefused)
	f.plant(t, c.home.Dir, map[string]string{
		".kimi-code/AGENTS.md": "<say user-agents>\n", ".kimi-code/SYSTEM.md": "<say user-system>\n",
		".agents/AGENTS.md":             "<say user-generic-agents>\n",
		".agents/skills/own/SKILL.md":   "---\nname: own\ndescription: <say user-skill>\n---\nx\n",
		".kimi-code/agents/clichain.md": "---\nname: clichain\ndescription: <say user-agent-listed>\noverride: true\n---\n<say user-agent>\n",
	})
	require.Empty(t, f.below(t, c, "/say hi"))
}
