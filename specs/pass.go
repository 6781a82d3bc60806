package specs

import "github.com/clichain/clichain/clispec"

// The credentials of clouds and of other vendors that a CLI can use, each with the signs that it is configured to.
// Only files of the user count, because the files of a working directory may be untrusted.

// awsCaches lists the directories in which AWS's SDKs and its command keep tokens that they renew.
var awsCaches = []string{"~/.aws/sso/cache", "~/.aws/cli/cache", "~/.aws/login/cache"}

// withFiles adds the files in which a cloud keeps its credentials to the rules that pass its variables.
func withFiles(rules []clispec.PassRule) []clispec.PassRule {
	aws := []string{
		"~/.aws", "${AWS_CONFIG_FILE}", "${AWS_SHARED_CREDENTIALS_FILE}", "${AWS_WEB_IDENTITY_TOKEN_FILE}",
		"${AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE}", "${AWS_CA_BUNDLE}",
	}
	google := []string{"${GOOGLE_APPLICATION_CREDENTIALS}", "~/.config/gcloud/application_default_credentials.json"}
	azure := []string{"~/.azure", "${AZURE_FEDERATED_TOKEN_FILE}", "${AZURE_CLIENT_CERTIFICATE_PATH}"}
	files := map[string][]string{
		"AWS_*": aws, "GOOGLE_APPLICATION_CREDENTIALS": google, "GOOGLE_*": google, "AZURE_*": azure,
	}
	for i, rule := range rules {
		for _, variable := range rule.Pass {
			rules[i].Read = append(rules[i].Read, files[variable]...)
			if variable == "AWS_*" {
				rules[i].Write = append(rules[i].Write, awsCaches...)
			}
		}
	}
	return rules
}

// claudePass has the switches of the clouds, which may also be in the settings.
func claudePass() []clispec.PassRule {
	rule := func(pass []string, switches ...string) clispec.PassRule {
		r := clispec.PassRule{Pass: pass, Env: switches}
		for _, name := range switches {
			r.Files = append(
				r.Files,
				clispec.FileFact{
					Path: "${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json", JSON: pairs("env."+name, "(?i)1|true|yes|on"),
				},
			)
		}
		return r
	}
	return withFiles([]clispec.PassRule{
		rule([]string{"AWS_*"}, "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_MANTLE", "CLAUDE_CODE_USE_ANTHROPIC_AWS"),
		rule(
			[]string{"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUD_ML_REGION", "VERTEX_*"},
			"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
		),
		rule([]string{"AZURE_*"}, "CLAUDE_CODE_USE_FOUNDRY"),
	})
}

// codexPass: Azure is a provider in the configuration.
func codexPass() []clispec.PassRule {
	return []clispec.PassRule{{
		Pass:  []string{"AZURE_OPENAI_*"},
		Files: []clispec.FileFact{{Path: "${CODEX_HOME:-~/.codex}/config.toml", Pattern: `(?mi)^[^#\n]*azure`}},
	}}
}

// geminiPass has the logins that use the Google Cloud. A Google account may need the name of a project.
func geminiPass() []clispec.PassRule {
	const folder = "${GEMINI_CLI_HOME:-~}/.gemini/"
	switches := []string{"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GEMINI_CLI_USE_COMPUTE_ADC", "CLOUD_SHELL"}
	return withFiles([]clispec.PassRule{
		{
			Pass: []string{"GOOGLE_CLOUD_*", "GOOGLE_APPLICATION_CREDENTIALS"}, Env: switches,
			Files: []clispec.FileFact{
				{
					Path: folder + "settings.json",
					JSON: pairs("security.auth.selectedType", "vertex-ai|cloud-shell|compute-default-credentials|gateway"),
				},
				{
					Path: folder + ".env",
					Pattern: `(?m)^\s*(export\s+)?(GOOGLE_GENAI_USE_VERTEXAI|GOOGLE_GENAI_USE_GCA|` +
						`GEMINI_CLI_USE_COMPUTE_ADC)\s*=\s*["']?(true|1)`,
				},
			},
		},
		{
			Pass: []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"},
			Files: []clispec.FileFact{
				{Path: folder + "settings.json", JSON: pairs("security.auth.selectedType", "oauth-personal")},
			},
		},
	})
}

// vendor is a vendor whose models several CLIs can use.
type vendor struct {
	name  string
	named string   // a regular expression for the names of its variables in settings
	pass  []string // its environment variables, in the form of PassRule.Pass
}

// key returns a vendor that needs one environment variable.
func key(name, variable string) vendor { return vendor{name, variable, []string{variable}} }

// vendors returns the vendors that have the same name in all of these CLIs.
func vendors() []vendor {
	return []vendor{
		{"anthropic", `ANTHROPIC_\w+`, []string{"ANTHROPIC_*"}},
		{"openai", `OPENAI_\w+`, []string{"OPENAI_*"}},
		{
			"google", `GEMINI_API_KEY|GOOGLE_\w*API_KEY`,
			[]string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"},
		},
		vertex("google-vertex"),
		{"amazon-bedrock", `AWS_\w+`, []string{"AWS_*"}},
		key("groq", "GROQ_API_KEY"), key("mistral", "MISTRAL_API_KEY"), key("openrouter", "OPENROUTER_API_KEY"), key(
			"xai", "XAI_API_KEY",
		),
		key("deepseek", "DEEPSEEK_API_KEY"), key("cerebras", "CEREBRAS_API_KEY"), key("huggingface", "HF_TOKEN"),
	}
}

func vertex(name string) vendor {
	return vendor{
		name, `GOOGLE_(APPLICATION|CLOUD|VERTEX)_\w+`,
		[]string{"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GOOGLE_VERTEX_*"},
	}
}

// openCodePass has a vendor's variables, if the model is one of the vendor's, or if a configuration file names the
// vendor or the variable.
func openCodePass(files ...string) (rules []clispec.PassRule) {
	for _, v := range append(vendors(),
		vertex("google-vertex-anthropic"),
		vendor{"azure", `AZURE_\w+`, []string{"AZURE_*"}}, vendor{
			"azure-cognitive-services", `AZURE_\w+`, []string{"AZURE_*"},
		},
		key("github-models", "GITHUB_TOKEN"), key("github-copilot", "GITHUB_TOKEN"),
	) {
		pattern := `"` + v.name + `(/[^"]*"|"\s*:)|` +
			`"enabled_providers"\s*:\s*\[[^\]]*"` + v.name + `"|\{env:(` + v.named + `)\}`
		r := clispec.PassRule{Pass: v.pass, Models: []string{v.name + "/"}}
		for _, path := range files {
			r.Files = append(r.Files, clispec.FileFact{Path: path, Pattern: pattern})
		}
		rules = append(rules, r)
	}
	return withFiles(rules)
}
