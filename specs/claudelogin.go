package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// claudeLogin lists keys in the environment before a plan, because they have priority.
func claudeLogin() clispec.LoginRules {
	const folder = "${CLAUDE_CONFIG_DIR:-~/.claude}/"
	const inSettings = `(?i)apiKeyHelper|(aws|gcp)[A-Z]\w*|forceLogin\w*` +
		`|ANTHROPIC_(\w*KEY|\w*TOKEN|PROFILE|FEDERATION\w*|IDENTITY\w*|UNIX_SOCKET|` +
		`CUSTOM_HEADERS|AWS\w*|FOUNDRY\w*|CONFIG_DIR)` +
		`|CLAUDE_CODE_(USE_\w+|OAUTH\w*|\w*_TOKEN|\w*DESCRIPTOR)|CLAUDE_(SECURESTORAGE_)?CONFIG_DIR`
	ways := claudeKeys()
	for _, path := range []string{
		folder + "settings.json", "./.claude/settings.json", "./.claude/settings.local.json",
		"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json",
		"${PROGRAMDATA}/ClaudeCode/managed-settings.json", "${PROGRAMFILES}/ClaudeCode/managed-settings.json",
		folder + "remote-settings.json",
	} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Keys: inSettings}}, Unsure: true})
	}
	return clispec.LoginRules{
		Ways: append(ways,
			clispec.LoginWay{Files: []clispec.FileFact{{Path: "/etc/claude-code/managed-settings.d"}}, Unsure: true},
			clispec.LoginWay{
				Files: []clispec.FileFact{{Path: "/Library/Managed Preferences/com.anthropic.claudecode.plist"}}, Unsure: true,
			},
			clispec.LoginWay{Env: []string{"CLAUDE_CODE_OAUTH_TOKEN"}, Billing: call.BillingSubscription},
			clispec.LoginWay{
				Env: []string{
					"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
					"CLAUDE_SECURESTORAGE_CONFIG_DIR",
				},
				Unsure: true,
			},
			clispec.LoginWay{Files: []clispec.FileFact{{Path: "~/.claude/remote"}}, Unsure: true}, // tokens of a hosted session
			clispec.LoginWay{
				Files: []clispec.FileFact{
					{
						Path: folder + ".credentials.json", JSON: pairs("claudeAiOauth.accessToken", ".+"),
						Expires: "claudeAiOauth.expiresAt", Refresh: "claudeAiOauth.refreshToken",
					},
				},
				Billing: call.BillingSubscription,
			},
			clispec.LoginWay{
				Files:   []clispec.FileFact{{Path: "${CLAUDE_CONFIG_DIR:-~}/.claude.json", JSON: pairs("primaryApiKey", ".+")}},
				Billing: call.BillingAPIKey,
			},
			clispec.LoginWay{OS: []string{"darwin", "windows"}, Unsure: true, Billing: call.BillingSubscription},
		),
		Status: claudeStatus(),
		// The CLI reports "none" for a plan, but also for a gateway or a cloud.
		KeySources: map[string]call.Billing{`ANTHROPIC_API_KEY|apiKeyHelper|/login managed key|overage`: call.BillingAPIKey},
	}
}

// claudeKeys are the keys in the environment.
func claudeKeys() []clispec.LoginWay {
	return []clispec.LoginWay{
		{
			Env:  []string{"CLAUDE_CODE_USE_BEDROCK"},
			With: []string{"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"}, Billing: call.BillingAPIKey,
		},
		{
			Env: []string{"CLAUDE_CODE_USE_VERTEX"}, With: []string{"GOOGLE_APPLICATION_CREDENTIALS"},
			Billing: call.BillingAPIKey,
		},
		{Env: []string{"CLAUDE_CODE_USE_*"}, Unsure: true, Billing: call.BillingAPIKey},
		{Env: []string{"ANTHROPIC_AUTH_TOKEN"}}, // of a gateway: the payer is unknown
		{Env: []string{"ANTHROPIC_API_KEY"}, Billing: call.BillingAPIKey},
		{Env: []string{
			"ANTHROPIC_AWS_*", "ANTHROPIC_FOUNDRY_*", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_*", "ANTHROPIC_IDENTITY_*",
			"ANTHROPIC_UNIX_SOCKET", "ANTHROPIC_CUSTOM_HEADERS",
			"CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "CLAUDE_CODE_GATEWAY_TOKEN_FILE_DESCRIPTOR",
		}, Unsure: true},
		{Files: []clispec.FileFact{{Path: "${ANTHROPIC_CONFIG_DIR:-~/.config/anthropic}"}}, Unsure: true},
	}
}

// claudeStatus asks without the settings of the working directory.
func claudeStatus() clispec.StatusRule {
	return clispec.StatusRule{Args: []string{"--setting-sources", "user", "auth", "status"}, Whole: true,
		Signs: []clispec.StatusSign{
			{
				JSON: pairs("loggedIn", "true", "authMethod", "claude.ai"), Login: clispec.LoginAuthenticated,
				Billing: call.BillingSubscription,
			},
			{
				JSON: pairs("loggedIn", "true", "authMethod", "api_key.*|third_party"), Login: clispec.LoginAuthenticated,
				Billing: call.BillingAPIKey,
			},
			{JSON: pairs("loggedIn", "true"), Login: clispec.LoginAuthenticated},
			{Exit: 1, JSON: pairs("loggedIn", "false"), Login: clispec.LoginInstalled},
		}}
}
