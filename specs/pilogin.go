package specs

import "github.com/clichain/clichain/clispec"

// piFolder is the directory in which pi stores the settings, models and credentials of its user.
const piFolder = "${PI_CODING_AGENT_DIR:-~/.pi/agent}/"

// piLogin is the login that `/login` stored, a key in the environment, or a provider that the user or an extension
// added.
func piLogin() clispec.LoginRules {
	unsure := func(facts ...clispec.FileFact) clispec.LoginWay { return clispec.LoginWay{Files: facts, Unsure: true} }
	var keys []string
	for _, v := range piVendors() {
		keys = append(keys, v.pass...)
	}
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Files: []clispec.FileFact{{Path: piFolder + "auth.json", Keys: "type"}}},
		unsure(clispec.FileFact{Path: piFolder + "models.json", Keys: "apiKey|headers"}),
		unsure(clispec.FileFact{Path: piFolder + "settings.json", Keys: "apiKeys|extensions|packages"}),
		unsure(clispec.FileFact{Path: piFolder + "extensions"}),
		unsure(clispec.FileFact{Path: piFolder + "oauth.json"}),
		{Env: keys, Unsure: true}, // the settings decide which one is used
	}}
}

// piPass has a vendor's variables, if the model is one of the vendor's, or if the settings name the vendor or the
// variable.
func piPass() (rules []clispec.PassRule) {
	for _, v := range piVendors() {
		rules = append(rules, clispec.PassRule{Pass: v.pass, Models: []string{v.name + "/"}, Files: []clispec.FileFact{
			{Path: piFolder + "settings.json", JSON: pairs("defaultProvider", v.name)},
			{Path: piFolder + "models.json", Pattern: `"(` + v.named + `)"`},
			{Path: piFolder + "auth.json", Pattern: `"(` + v.named + `)"`},
		}})
	}
	return withFiles(rules)
}

func piVendors() []vendor {
	return append(vendors(),
		vendor{"azure-openai-responses", `AZURE_OPENAI_\w+`, []string{"AZURE_OPENAI_*"}},
		vendor{
			"github-copilot", `COPILOT_GITHUB_TOKEN|GITHUB_TOKEN`, []string{"COPILOT_GITHUB_TOKEN", "GITHUB_TOKEN"},
		},
		key("vercel-ai-gateway", "AI_GATEWAY_API_KEY"), key("zai", "ZAI_API_KEY"), key("moonshotai", "MOONSHOT_API_KEY"),
		key("kimi-coding", "KIMI_API_KEY"), key("opencode", "OPENCODE_API_KEY"),
	)
}
