package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

const qwenHome = "${QWEN_HOME:-~/.qwen}/"

// qwenSelected is a login that the user's settings choose, before any variable.
func qwenSelected(way string) clispec.FileFact {
	return clispec.FileFact{Path: qwenHome + "settings.json", JSON: pairs("security.auth.selectedType", way)}
}

// qwenLogin: /auth stores its result in the settings, including a key or the name of its variable. Without a choice
// there, three variables together are a login. The files do not show whether the vendor's own service still accepts
// an account; the free plan has ended.
func qwenLogin() clispec.LoginRules {
	const selects = `selectedType|selectedAuthType|modelProviders|apiKey|envKey|\w*_API_KEY`
	const inEnvFile = `(?m)^\s*(export\s+)?(OPENAI|QWEN|DASHSCOPE|BAILIAN|MODELSCOPE|\w+_API_KEY)`
	openai := qwenSelected("openai")
	withKey := openai
	withKey.JSON = with(openai.JSON, "security.auth.apiKey", ".+")
	account := clispec.FileFact{
		Path: qwenHome + "oauth_creds.json", JSON: pairs("access_token", ".+"), Expires: "expiry_date",
		Refresh: "refresh_token",
	}
	var ways []clispec.LoginWay
	for _, path := range []string{ // these have priority over the user's
		"./.qwen/settings.json", "/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json",
		"${PROGRAMDATA}/qwen-code/settings.json", "${QWEN_CODE_SYSTEM_SETTINGS_PATH}",
	} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Keys: selects}}, Unsure: true})
	}
	ways = append(ways, []clispec.LoginWay{
		{Files: []clispec.FileFact{withKey}, Billing: call.BillingAPIKey},
		{Env: []string{"OPENAI_API_KEY"}, Files: []clispec.FileFact{openai}, Billing: call.BillingAPIKey},
		{Files: []clispec.FileFact{qwenSelected("qwen-oauth"), account}, Unproven: true, Billing: call.BillingSubscription},
		{Files: []clispec.FileFact{{Path: qwenHome + "settings.json", Keys: selects}}, Unsure: true},
		{Env: []string{"OPENAI_MODEL", "QWEN_MODEL"}, With: []string{"OPENAI_API_KEY"}, Billing: call.BillingAPIKey},
		{Env: []string{"OPENAI_API_KEY", "QWEN_OAUTH", "QWEN_DEFAULT_AUTH_TYPE"}, Unsure: true},
		{Files: []clispec.FileFact{account}, Unsure: true},
	}...)
	for _, path := range []string{qwenHome + ".env", "~/.env", "./.qwen/.env", "./.env"} {
		ways = append(ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path, Pattern: inEnvFile}}, Unsure: true})
	}
	return clispec.LoginRules{Ways: ways}
}

// qwenPass has the services that the settings can name besides its own.
func qwenPass() []clispec.PassRule {
	rules := []clispec.PassRule{
		{Pass: []string{"ANTHROPIC_*"}, Files: []clispec.FileFact{qwenSelected("anthropic")}},
		{Pass: []string{"GEMINI_*"}, Files: []clispec.FileFact{qwenSelected("gemini")}},
		{Pass: []string{"GOOGLE_*"}, Files: []clispec.FileFact{qwenSelected("vertex-ai")}},
	}
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY", "MINIMAX_API_KEY", "MOONSHOT_API_KEY",
		"OPENROUTER_API_KEY",
		"REQUESTY_API_KEY", "XAI_API_KEY", "ZAI_API_KEY",
	} {
		rules = append(
			rules,
			clispec.PassRule{
				Pass:  []string{name},
				Files: []clispec.FileFact{{Path: qwenHome + "settings.json", Pattern: `"envKey"\s*:\s*"` + name + `"`}},
			},
		)
	}
	return withFiles(rules)
}
