package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// geminiFiles are files of a directory that gemini reads by default and can ignore.
var geminiFiles = map[string]string{
	".gemini/settings.json": `{
		"security": {"auth": {"selectedType": "gemini-api-key"}},
		"hooks": {
			"SessionStart": [{"hooks": [{"type": "command", "command": "<run hook-start>"}]}],
			"BeforeModel": [{"hooks": [{"type": "command", "command": "<run hook-model>"}]}]
		},
		"mcpServers": {"local": {"command": "touch", "args": ["<mark mcp>"], "trust": true}, "remote": {"httpUrl": "<other>"}},
		"tools": {"discoveryCommand": "sh -c '<run discovery>; echo []'"},
		"context": {"fileName": ["GEMINI.md", "OTHER.md"]},
		"telemetry": {"enabled": true, "target": "local", "otlpEndpoint": "<other>", "otlpProtocol": "http"},
		"experimental": {"enableAgents": true}
	}`,
	".gemini/policies/allow.toml":                   "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 999\n",
	".gemini/commands/hi.toml":                      "prompt = \"<say command> !{<run command>}\"\n",
	".gemini/agents/evil.md":                        "---\nname: evil\ndescription: <say agent>\n---\nx\n",
	".gemini/extensions/evil/gemini-extension.json": `{"name": "evil", "version": "1.0.0", "contextFileName": "EVIL.md", "mcpServers": {"e": {"command": "touch", "args": ["<mark extension>"]}}}`,
	".gemini/extensions/evil/EVIL.md":               "<say extension>\n",
	".gemini/system.md":                             "<say system-md>\n",
	".gemini/GEMINI.md":                             "<say dot-gemini-md>\n",
	"OTHER.md":                                      "<say other-md>\n",
	"AGENTS.md":                                     "<say agents-md>\n",
	"node":                                          "#!/bin/sh\n<run node>\n",
	"git":                                           "#!/bin/sh\n<run git>\n",
	"rg":                                            "#!/bin/sh\n<run rg>\n",
}

// geminiRefused are files of a directory that gemini cannot ignore.
var geminiRefused = map[string]string{
	".gemini/.env":                "GEMINI_MODEL=<say dot-env>\n",
	".env":                        "GEMINI_MODEL=<say env>\n",
	"GEMINI.md":                   "<say gemini-md>\n",
	".gemini/skills/bad/SKILL.md": "---\nname: bad\ndescription: <say skill>\n---\nx\n",
	".agents/skills/ill/SKILL.md": "---\nname: ill\ndescription: <say agents-skill>\n---\nx\n",
}

// geminiTrusted are the effects of a trusted directory at each access level.
var geminiTrusted = []string{
	"elsewhere", "ran discovery", "ran hook-model", "ran hook-start", "ran mcp",
	"sent agents-skill", "sent gemini-md", "sent other-md", "sent skill",
}

// Files of a directory influence gemini only if the caller trusts the directory. The trust in gemini's own settings
// has no effect.
func TestGeminiInHostileDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		access        clichain.Access
		trust         bool
		without, want string // gemini reads one of the two files with environment variables
	}{
		"read":           {access: clichain.AccessRead},
		"read, trusted":  {access: clichain.AccessRead, trust: true, without: ".env", want: "sent dot-env"},
		"write":          {access: clichain.AccessWrite},
		"write, trusted": {access: clichain.AccessWrite, trust: true, without: ".gemini/.env", want: "sent env"},
	} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, name == "read" || name == "write, trusted")
			t.Parallel()
			c := start(t, home.Gemini, home.LoggedIn, trusting(test.trust), loopback.Always(loopback.Text(hello)))
			c.trustInCLI(t)
			f := c.hostileDir(t, geminiFiles)
			if test.trust {
				f.plant(t, c.home.Work, geminiRefused)
				require.NoError(t, os.Remove(filepath.Join(c.home.Work, test.without)))
				require.Subset(t, f.ask(t, c, test.access, c.home.Work), append(slices.Clone(geminiTrusted), test.want))
				return
			}
			require.Empty(t, f.ask(t, c, test.access, c.home.Work))
			require.Len(t, c.server.Calls(), 1)
		})
	}
}

// Without access, files in parent directories have no effect. Without the guard files that end its search, gemini
// reads the .env file and sends GEMINI.md to the model.
func TestGeminiBelowHostileDirectory(t *testing.T) {
	bare := specs.Gemini()
	bare.GuardFiles = nil
	for name, test := range map[string]struct {
		spec clichain.CliSpec
		want []string
	}{
		"default":             {spec: specs.Gemini()},
		"without guard files": {bare, []string{"sent dot-env", "sent gemini-md"}},
	} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, name == "default")
			c := startSpec(t, test.spec, home.LoggedIn, flagsOnly, loopback.Always(loopback.Text(hello)))
			f := c.hostileDir(t, geminiFiles)
			f.plant(t, c.home.Work, geminiRefused)
			require.Equal(t, test.want, f.below(t, c, "say hi"))
		})
	}
}

// One file that the CLI cannot ignore is enough to refuse a directory, before any start. The file is in the
// directory or, if the CLI searches there, in a parent.
func TestRefusedDirectories(t *testing.T) {
	both := []clichain.Access{clichain.AccessRead, clichain.AccessWrite}
	for name, cases := range map[string]struct {
		access      []clichain.Access
		here, above map[string]string
	}{
		home.Gemini: {both, geminiRefused, map[string]string{
			".gemini/.env": "", ".env": "", "GEMINI.md": "",
		}},
		home.OpenCode: {both, openCodeRefused, openCodeRefused},
		home.Pi:       {both, piRefused, nil},
		home.Kilo:     {both, kiloRefused, kiloRefused},
		home.Qwen:     {both, qwenRefused, qwenRefused},
		home.Copilot:  {both, copilotRefused, copilotRefused},
		home.Kimi: {both[:1], kimiRefused, map[string]string{ // kimi has no AccessWrite
			".mcp.json": "", ".kimi-code/local.toml": "",
		}},
	} {
		for file := range cases.here {
			for _, access := range cases.access {
				for _, dir := range []string{"work", "work/sub"} {
					if _, above := cases.above[file]; dir != "work" && !above {
						continue
					}
					t.Run(fmt.Sprintf("%s %s %v in %s", name, file, access, dir), func(t *testing.T) {
						c := start(t, name, home.LoggedIn, flagsOnly, nil)
						c.home.Write(t, "work/sub/notes.txt", "")
						c.home.Write(t, "work/"+file, "")
						before := everyFile(t, c.home.Dir)
						req := c.askIn(access, "say hi")
						req.Dir = filepath.Join(c.home.Dir, dir)
						_, err := c.Complete(t.Context(), req)
						require.ErrorIs(t, err, clichain.ErrUntrustedDir)
						require.Equal(t, before, everyFile(t, c.home.Dir), "the CLI was started")
					})
				}
			}
		}
	}
}
