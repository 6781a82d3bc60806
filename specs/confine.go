package specs

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// The files that each CLI needs if the kernel confines it. They were found with strace in runs against the loopback
// server of the conformance suite, at the access levels none, read and full. Those of agy and cursor-agent follow their
// documentation.

// state is a directory that a CLI keeps. watch are the files in it that can make the next start run code. Instructions
// for the model and skills that only the model reads are not among them.
func state(path string, watch ...string) clispec.StatePath {
	return clispec.StatePath{Path: path, Watch: watch}
}

// reads returns the certificates that the common environment variables name, and more paths.
func reads(more ...string) []string {
	return append([]string{
		"${NODE_EXTRA_CA_CERTS}", "${SSL_CERT_FILE}", "${SSL_CERT_DIR}", "${REQUESTS_CA_BUNDLE}", "${CURL_CA_BUNDLE}",
	}, more...)
}

// userSkills is the directory for the skills of all agents. Some CLIs fail if it exists and cannot be read.
const userSkills = "~/.agents"

// claudePaths: the MCP servers of the user are in .claude.json, which claude changes at every run. A confined process
// can create neither a lock nor a temporary file in the home directory. It would write in place, and another process
// that starts meanwhile would read half of the file and fail. So claude may only read the file there. In the last
// directory, claude renews the login of a profile, and locks it with a directory beside that of the logins.
func claudePaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state(
				"${CLAUDE_CONFIG_DIR:-~/.claude}", "settings.json", "remote-settings.json", "agents", "commands", "skills",
				"hooks", "workflows", "plugins/installed_plugins.json", "plugins/known_marketplaces.json", "plugins/cache",
				"plugins/marketplaces",
			),
			{
				Path: "${CLAUDE_CONFIG_DIR}/.claude.json", File: true,
				Watch: []string{"mcpServers", "projects.@values.#.mcpServers.@values|@flatten"},
			},
			state("${CLAUDE_SECURESTORAGE_CONFIG_DIR}"), state("${CLAUDE_CODE_TMPDIR}"),
			{
				Path:     "${ANTHROPIC_CONFIG_DIR:-~/.config/anthropic}",
				Optional: true, // its existence counts as a login
				Watch:    []string{"configs", "active_config"},
			},
		},
		Read: reads("~/.claude.json"),
	}
}

// codexPaths: at read and write, the CLI confines its tools with bubblewrap, which cannot mount in a confined process.
func codexPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state(
				"${CODEX_HOME:-~/.codex}", "config.toml", "managed_config.toml", "environments.toml", ".env", "hooks.json",
				"hooks", "rules", "agents", "plugins", "packages",
			),
			state("${CODEX_SQLITE_HOME}"),
		},
		Read: reads("${CODEX_CA_CERTIFICATE}", userSkills),
		Own:  []call.Access{call.AccessRead, call.AccessWrite},
	}
}

// geminiPaths: a file .env in the home directory may have the key.
func geminiPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{state(
			"${GEMINI_CLI_HOME:-~}/.gemini", "settings.json", ".env", "extensions", "commands", "agents", "policies", "hooks",
			"trustedFolders.json", "trusted_hooks.json",
		)},
		Read: reads(
			"${GEMINI_CLI_HOME:-~}/.env", "${GEMINI_CLI_SYSTEM_SETTINGS_PATH}", "${GEMINI_CLI_SYSTEM_DEFAULTS_PATH}",
			userSkills,
		),
	}
}

// paths is for opencode and its forks. They also read the instructions and the skills for claude.
func (o openCode) paths(more ...string) clispec.ConfineRules {
	settings := append(
		slices.Clone(o.config), "config", "plugin", "plugins", "tool", "tools", "agent", "agents", "mode", "modes",
		"command", "commands", "package.json", "node_modules",
	)
	cache := []string{"bin", "packages", "package.json", "node_modules"}
	dirs := []clispec.StatePath{
		state("${XDG_CONFIG_HOME:-~/.config}/"+o.name, settings...),
		state("${XDG_DATA_HOME:-~/.local/share}/" + o.name),
		state("${XDG_STATE_HOME:-~/.local/state}/" + o.name),
		state("${XDG_CACHE_HOME:-~/.cache}/"+o.name, cache...),
		state("${"+o.variable("CONFIG_DIR")+"}", settings...),
	}
	return clispec.ConfineRules{State: dirs, Read: reads(append([]string{
		"${" + o.variable("CONFIG") + "}", "~/." + o.name, userSkills, "~/.claude/CLAUDE.md", "~/.claude/skills",
	}, more...)...)}
}

// kiloPaths adds the policies of the CLI's sandbox, and the directories of its predecessor.
func kiloPaths(o openCode) clispec.ConfineRules {
	rules := o.paths("~/.kilocode", "~/.kilocodemodes")
	for _, name := range []string{"kilo-sandbox-policy", "kilo-sandbox-preference"} {
		rules.State = append(rules.State, state("${XDG_STATE_HOME:-~/.local/state}/"+name))
	}
	return rules
}

// copilotPaths: the CLI unpacks its program into the cache. It also uses the login of gh.
func copilotPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state(
				"${COPILOT_HOME:-~/.copilot}", "settings.json", "config.json", "mcp-config.json", "mcp-config",
				"mcp-installations.json", "mcp-activations.json", "lsp-config.json", "permissions-config.json", "hooks", "agents",
				"installed-plugins", "extensions", "pkg",
			),
			state("${COPILOT_CACHE_HOME:-~/.cache/copilot}", "pkg"), state("${COPILOT_PKG_CACHE_HOME}", "pkg"),
			state("${XDG_CACHE_HOME}/copilot", "pkg"),
		},
		Read: reads("${GH_CONFIG_DIR:-~/.config/gh}", userSkills),
	}
}

func kimiPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{state(
			"${KIMI_CODE_HOME:-~/.kimi-code}", "config.toml", "mcp.json", "plugins", "agents", "hooks", "workspace-trust",
		)},
		Read: reads(userSkills),
	}
}

// piPaths: keys in models.json and commands in settings.json may be commands of a shell.
func piPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state(
				"${PI_CODING_AGENT_DIR:-~/.pi/agent}", "settings.json", "models.json", "trust.json", "extensions", "hooks", "tools",
				"commands", "npm", "git", "bin",
			),
			state("${PI_CODING_AGENT_SESSION_DIR}"),
		},
		Read: reads(userSkills),
	}
}

// clinePaths: rules, hooks and plugins of the user may also be among the documents.
func clinePaths() clispec.ConfineRules {
	settings := []string{"settings/cline_mcp_settings.json", "settings/global-settings.json"}
	home := []string{"hooks", "plugins", "agents"}
	for _, file := range settings {
		home = append(home, "data/"+file)
	}
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state("${CLINE_DIR:-~/.cline}", home...), state("${CLINE_DATA_DIR:-~/.cline/data}", settings...),
		},
		Read: reads("${CLINE_PROVIDER_SETTINGS_PATH}", "~/Documents/Cline", "~/Cline", userSkills),
	}
}

// qwenPaths: a file .env in the home directory may have the key.
func qwenPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state(
				"${QWEN_HOME:-~/.qwen}", "settings.json", ".env", "extensions", "commands", "agents", "hooks", "policies",
				"trustedFolders.json", "mcpApprovals.json", "updates",
			),
			state("${QWEN_RUNTIME_DIR}"),
		},
		Read: reads("~/.env", "${QWEN_CODE_SYSTEM_SETTINGS_PATH}", "${QWEN_CODE_SYSTEM_DEFAULTS_PATH}", userSkills),
	}
}

// cursorPaths: on Linux, the login is in the configuration directory.
func cursorPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{
			state("~/.cursor", "cli-config.json", "mcp.json", "hooks.json", "hooks", "permissions.json", "plugins", "agents"),
			state("${CURSOR_CONFIG_DIR}", "cli-config.json", "mcp.json", "hooks.json", "hooks", "plugins", "agents"),
			state("${XDG_CONFIG_HOME:-~/.config}/cursor", "cli-config.json", "mcp.json", "hooks.json"),
		},
		Read: reads(userSkills),
	}
}

// agyPaths: the CLI shares its directory with the Gemini CLI.
func agyPaths() clispec.ConfineRules {
	return clispec.ConfineRules{
		State: []clispec.StatePath{state(
			"~/.gemini", "settings.json", ".env", "antigravity-cli/settings.json", "antigravity-cli/mcp_config.json",
			"antigravity-cli/hooks.json", "antigravity-cli/plugins", "config", "extensions", "policies", "hooks",
		)},
		Read: reads(userSkills),
	}
}
