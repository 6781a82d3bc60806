package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// copilotLogin: a provider of the user's own wins over GitHub. The token of a login is
// in a keychain, or in its configuration where there is none; that names who is logged
// in. It takes the login of gh too.
func copilotLogin() clispec.LoginRules {
	const folder = "${COPILOT_HOME:-~/.copilot}/"
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Env: []string{"COPILOT_PROVIDER_BASE_URL"}, Billing: call.BillingAPIKey},
		{Env: []string{"COPILOT_PROVIDERS_CONFIG"}, Unsure: true, Billing: call.BillingAPIKey},
		{Files: []clispec.FileFact{{Path: folder + "providers.json"}}, Unsure: true, Billing: call.BillingAPIKey},
		{Env: []string{"COPILOT_GITHUB_TOKEN"}, Billing: call.BillingSubscription},
		// Perhaps without a plan.
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
