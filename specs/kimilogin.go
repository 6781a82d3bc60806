package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// kimiLogin: a model in the environment has priority over those in the configuration. The providers there have their
// own keys or the token of `kimi login`.
func kimiLogin() clispec.LoginRules {
	const folder = "${KIMI_CODE_HOME:-~/.kimi-code}/"
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Env: []string{"KIMI_MODEL_NAME"}, With: []string{"KIMI_MODEL_API_KEY"}, Billing: call.BillingAPIKey},
		{
			Files: []clispec.FileFact{
				{Path: folder + "config.toml", Pattern: `(?m)^[^#\n]*\b(api_key|apiKey|base_url|baseUrl)\b`},
			},
			Unsure: true,
		},
		{
			Files: []clispec.FileFact{
				{
					Path: folder + "credentials/kimi-code.json", JSON: pairs("access_token", ".+"), Expires: "expires_at",
					Refresh: "refresh_token",
				},
			},
			Billing: call.BillingSubscription,
		},
		{Files: []clispec.FileFact{{Path: folder + "credentials"}}, Unsure: true},
	}}
}

// kimiPass has the keys of other vendors, if the configuration has a provider of their type.
func kimiPass() []clispec.PassRule {
	rule := func(kind string, pass ...string) clispec.PassRule {
		return clispec.PassRule{Pass: pass, Files: []clispec.FileFact{{
			Path: "${KIMI_CODE_HOME:-~/.kimi-code}/config.toml", Pattern: `(?m)^[^#\n]*\btype\s*=\s*["'](` + kind + `)["']`,
		}}}
	}
	return []clispec.PassRule{
		rule("openai(_responses)?", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
		rule("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
		rule(
			"google-genai|gemini|vertexai", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
			"VERTEXAI_API_KEY",
		),
	}
}
