package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// copilotLogin: the user's own provider has priority over GitHub. The token of a login is in a keychain, or in the
// configuration if there is no keychain. The configuration names the logged-in account. The CLI also uses the login
// of gh.
func copilotLogin() clispec.LoginRules {
	const folder = "${COPILOT_HOME:-~/.copilot}/"
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Env: []string{"COPILOT_PROVIDER_BASE_URL"}, Billing: call.BillingAPIKey},
		{Env: []string{"COPILOT_PROVIDERS_CONFIG"}, Unsure: true, Billing: call.BillingAPIKey},
		{Files: []clispec.FileFact{{Path: folder + "providers.json"}}, Unsure: true, Billing: call.BillingAPIKey},
		{Env: []string{"COPILOT_GITHUB_TOKEN"}, Billing: call.BillingSubscription},
		// The account may have no plan.
		{Env: []string{"GH_TOKEN", "GITHUB_TOKEN"}, Unsure: true, Billing: call.BillingSubscription},
		{
			Files: []clispec.FileFact{
				{
					Path:    folder + "config.json",
					Pattern: `(?i)"(last_?logged_?in_?user|logged_?in_?users|copilot_?tokens|auth_?tokens)"\s*:\s*[\[{"]\s*[^\]}"\s]`,
				},
			},
			Unsure: true, Billing: call.BillingSubscription,
		},
		{
			Files: []clispec.FileFact{{Path: "${GH_CONFIG_DIR:-~/.config/gh}/hosts.yml"}}, Unsure: true,
			Billing: call.BillingSubscription,
		},
		keychain(),
	}}
}
