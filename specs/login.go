package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// The logins of each CLI, as its documentation and its program name them. A missing entry makes a logged-in backend
// look logged out, so every possible login is listed as unsure.

// codexLogin treats a configured provider as unsure, because it may need no login. A name in the configuration may be
// quoted or part of a dotted name. A name with an escape sequence may be any name.
func codexLogin() clispec.LoginRules {
	const folder = "${CODEX_HOME:-~/.codex}/"
	const provider = `(?m)^[^\S\n]*(?:[^#\s].*[\s\[.{,"'])?["']?` +
		`(model_providers?|profiles?|oss_provider|\w*base_url|cli_auth_credentials_store|preferred_auth_method|` +
		`forced_\w+|projects?_config)["']?\s*[.=\]]` +
		`|"([^"\\\n]|\\[^uUx\n])*\\[uUx]([^"\\\n]|\\.)*"\s*[.=\]]`
	auth := func(values ...string) clispec.FileFact {
		return clispec.FileFact{
			Path: folder + "auth.json", JSON: pairs(values...), Expires: "tokens.access_token", Refresh: "tokens.refresh_token",
		}
	}
	return clispec.LoginRules{
		Ways: []clispec.LoginWay{
			{Env: []string{"CODEX_API_KEY"}, Billing: call.BillingAPIKey},
			{Env: []string{"CODEX_ACCESS_TOKEN", "CODEX_AUTH*"}, Unsure: true},
			{Files: []clispec.FileFact{{Path: folder + "config.toml", Pattern: provider}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: "./.codex/config.toml", Pattern: provider}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: "/etc/codex"}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: folder + "managed_config.toml", Pattern: provider}}, Unsure: true},
			{
				Files:   []clispec.FileFact{auth("auth_mode", "chatgpt", "tokens.access_token", ".+")},
				Billing: call.BillingSubscription,
			},
			{
				Files:   []clispec.FileFact{{Path: folder + "auth.json", JSON: pairs("OPENAI_API_KEY", ".+")}},
				Billing: call.BillingAPIKey,
			},
			{Files: []clispec.FileFact{{Path: folder + "auth.json", JSON: pairs("agent_identity", `(?s).+`)}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: folder + "auth.json", JSON: pairs("personal_access_token", ".+")}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: folder + "auth.json", Keys: `bedrock\w*`}}, Unsure: true},
			{Files: []clispec.FileFact{auth("tokens.access_token", ".+")}, Billing: call.BillingSubscription},
			{Env: []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_*"}, Unsure: true},
			keychain(),
		},
		// The CLI ignores keys in the environment.
		Status: clispec.StatusRule{Args: []string{"login", "status"}, Signs: []clispec.StatusSign{
			{Pattern: "Logged in using ChatGPT", Login: clispec.LoginAuthenticated, Billing: call.BillingSubscription},
			{Pattern: "(?i)API key", Login: clispec.LoginAuthenticated, Billing: call.BillingAPIKey},
			{Exit: 1, Pattern: "^Not logged in", Login: clispec.LoginInstalled},
		}},
	}
}

// geminiLogin: settings.json selects the login. Without it the environment does, partly from a file ".env". The
// service may refuse a Google account although its token is valid, and it refuses each account of a private person.
func geminiLogin() clispec.LoginRules {
	const folder = "${GEMINI_CLI_HOME:-~}/.gemini/"
	const inEnvFile = `(?i)(^|[\r\n\x{2028}\x{2029}])[\s\pZ\x{feff}]*(export[\s\pZ\x{feff}]+)?(GEMINI|GOOGLE|CLOUD_SHELL)`
	const selects = `selectedType|selectedAuthType|enforcedType`
	selected := func(way string) clispec.FileFact {
		return clispec.FileFact{Path: folder + "settings.json", JSON: pairs("security.auth.selectedType", way)}
	}
	var ways []clispec.LoginWay
	for _, path := range []string{ // these have priority over the user's
		"./.gemini/settings.json", "/etc/gemini-cli/settings.json", "${GEMINI_CLI_SYSTEM_SETTINGS_PATH}",
		"/Library/Application Support/GeminiCli/settings.json", "${PROGRAMDATA}/gemini-cli/settings.json",
	} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Keys: selects}}, Unsure: true})
	}
	ways = append(ways, []clispec.LoginWay{
		{Env: []string{"GEMINI_API_KEY"}, Files: []clispec.FileFact{selected("gemini-api-key")}, Billing: call.BillingAPIKey},
		{
			Files: []clispec.FileFact{
				selected("oauth-personal"),
				{
					Path: folder + "oauth_creds.json", JSON: pairs("refresh_token", ".+"), Expires: "expiry_date",
					Refresh: "refresh_token",
				},
			},
			Unproven: true, Billing: call.BillingSubscription,
		},
		{Env: []string{"GOOGLE_GENAI_USE_*", "GOOGLE_GEMINI_BASE_URL"}, Unsure: true},
	}...)
	for _, path := range []string{folder + "settings.json", "${GEMINI_CLI_SYSTEM_DEFAULTS_PATH}",
		"/etc/gemini-cli/system-defaults.json"} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Keys: selects}}, Unsure: true})
	}
	for _, path := range []string{folder + ".env", "${GEMINI_CLI_HOME:-~}/.env", "./.gemini/.env", "./.env"} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Pattern: inEnvFile}}, Unsure: true})
	}
	return clispec.LoginRules{Ways: append(ways,
		clispec.LoginWay{Env: []string{"GEMINI_API_KEY"}, Billing: call.BillingAPIKey},
		clispec.LoginWay{
			Env: []string{
				"GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_CLI_USE_COMPUTE_ADC", "CLOUD_SHELL",
				"GEMINI_DEFAULT_AUTH_TYPE",
			},
			Unsure: true,
		},
		clispec.LoginWay{Files: []clispec.FileFact{{Path: folder + "oauth_creds.json"}}, Unsure: true},
		clispec.LoginWay{Files: []clispec.FileFact{{Path: folder + "gemini-credentials.json"}}, Unsure: true},
		keychain(),
	)}
}

// openCodeLogin is the login of opencode and its forks. It ends with an unsure entry that always applies, because
// some models need no login.
func openCodeLogin(name string) clispec.LoginRules {
	config := "${XDG_CONFIG_HOME:-~/.config}/" + name + "/" + name
	return clispec.LoginRules{
		Ways: []clispec.LoginWay{
			{Files: []clispec.FileFact{{Path: config + ".json", Keys: "provider"}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: config + ".jsonc", Keys: "provider"}}, Unsure: true},
			{Files: []clispec.FileFact{{Path: "${XDG_DATA_HOME:-~/.local/share}/" + name + "/auth.json", Keys: "type"}}},
			{Env: []string{
				strings.ToUpper(name) + "_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
				"GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
				"OPENROUTER_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "CEREBRAS_API_KEY",
			}}, // the configuration decides which one is used
			{Unsure: true},
		},
		// The command counts neither free models nor configured providers.
		Status: clispec.StatusRule{Args: []string{"auth", "list"}, Signs: []clispec.StatusSign{
			{Pattern: `[1-9]\d* (credential|environment variable)s?`, Login: clispec.LoginAuthenticated},
		}},
	}
}

// cursorLogin has not been tested. Without a key the login is unknown.
func cursorLogin() clispec.LoginRules {
	return clispec.LoginRules{
		Ways: []clispec.LoginWay{{Env: []string{"CURSOR_API_KEY"}}, {Unsure: true}},
		Status: clispec.StatusRule{Args: []string{"status"}, Signs: []clispec.StatusSign{
			{Pattern: `(?i)\bnot logged in|\blogged out`, Login: clispec.LoginInstalled},
			{Pattern: `(?i)\blogged in\b`, Login: clispec.LoginAuthenticated},
		}},
	}
}

// keychain is a credential store of the system, which no file shows.
func keychain() clispec.LoginWay {
	return clispec.LoginWay{OS: []string{"darwin", "windows"}, Unsure: true}
}
