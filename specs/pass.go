package specs

import "github.com/clichain/clichain/clispec"

// The credentials of clouds and of other vendors that a CLI can use, each with
// the signs that it is set to. Only files of the user count: one of the folder
// that a CLI works in may be anybody's.

// claudePass has the switches of the clouds, which may be in the settings too.
func claudePass() []clispec.PassRule {
	rule := func(pass []string, switches ...string) clispec.PassRule {
		r := clispec.PassRule{Pass: pass, Env: switches}
		for _, name := range switches {
			r.Files = append(r.Files, clispec.FileFact{Path: "${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json", JSON: pairs("env."+name, "(?i)1|true|yes|on")})
		}
		return r
	}
	return []clispec.PassRule{
		rule([]string{"AWS_*"}, "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_MANTLE", "CLAUDE_CODE_USE_ANTHROPIC_AWS"),
		rule([]string{"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUD_ML_REGION", "VERTEX_*"}, "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD"),
		rule([]string{"AZURE_*"}, "CLAUDE_CODE_USE_FOUNDRY"),
	}
}

// codexPass: Azure is a provider of its configuration.
func codexPass() []clispec.PassRule {
	return []clispec.PassRule{{
		Pass:  []string{"AZURE_OPENAI_*"},
		Files: []clispec.FileFact{{Path: "${CODEX_HOME:-~/.codex}/config.toml", Pattern: `(?mi)^[^#\n]*azure`}},
	}}
}

// geminiPass has the logins that use the Google Cloud; a Google account may need
// the name of a project.
func geminiPass() []clispec.PassRule {
	const folder = "${GEMINI_CLI_HOME:-~}/.gemini/"
	switches := []string{"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GEMINI_CLI_USE_COMPUTE_ADC", "CLOUD_SHELL"}
	return []clispec.PassRule{
		{
			Pass: []string{"GOOGLE_CLOUD_*", "GOOGLE_APPLICATION_CREDENTIALS"}, Env: switches,
			Files: []clispec.FileFact{
				{Path: folder + "settings.json", JSON: pairs("security.auth.selectedType", "vertex-ai|cloud-shell|compute-default-credentials|gateway")},
				{Path: folder + ".env", Pattern: `(?m)^\s*(export\s+)?(GOOGLE_GENAI_USE_VERTEXAI|GOOGLE_GENAI_USE_GCA|GEMINI_CLI_USE_COMPUTE_ADC)\s*=\s*["']?(true|1)`},
			},
		},
		{
			Pass:  []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"},
			Files: []clispec.FileFact{{Path: folder + "settings.json", JSON: pairs("security.auth.selectedType", "oauth-personal")}},
		},
	}
}

// openCodePass: a vendor's variables, where the model is one of its or the
// configuration names it or the variable.
func openCodePass() []clispec.PassRule {
	rule := func(vendor, named string, pass ...string) clispec.PassRule {
		pattern := `"` + vendor + `(/[^"]*"|"\s*:)|"enabled_providers"\s*:\s*\[[^\]]*"` + vendor + `"|\{env:(` + named + `)\}`
		r := clispec.PassRule{Pass: pass, Models: []string{vendor + "/"}}
		for _, path := range []string{
			"${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json", "${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.jsonc",
			"${XDG_CONFIG_HOME:-~/.config}/opencode/config.json",
			"${OPENCODE_CONFIG}", "${OPENCODE_CONFIG_DIR}/opencode.json", "${OPENCODE_CONFIG_DIR}/opencode.jsonc",
		} {
			r.Files = append(r.Files, clispec.FileFact{Path: path, Pattern: pattern})
		}
		return r
	}
	vertex := []string{"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GOOGLE_VERTEX_*"}
	return []clispec.PassRule{
		rule("anthropic", `ANTHROPIC_\w+`, "ANTHROPIC_*"),
		rule("openai", `OPENAI_\w+`, "OPENAI_*"),
		rule("google", `GEMINI_API_KEY|GOOGLE_\w*API_KEY`, "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
		rule("google-vertex", `GOOGLE_(APPLICATION|CLOUD|VERTEX)_\w+`, vertex...),
		rule("google-vertex-anthropic", `GOOGLE_(APPLICATION|CLOUD|VERTEX)_\w+`, vertex...),
		rule("amazon-bedrock", `AWS_\w+`, "AWS_*"),
		rule("azure", `AZURE_\w+`, "AZURE_*"),
		rule("azure-cognitive-services", `AZURE_\w+`, "AZURE_*"),
		rule("groq", "GROQ_API_KEY", "GROQ_API_KEY"),
		rule("mistral", "MISTRAL_API_KEY", "MISTRAL_API_KEY"),
		rule("openrouter", "OPENROUTER_API_KEY", "OPENROUTER_API_KEY"),
		rule("xai", "XAI_API_KEY", "XAI_API_KEY"),
		rule("deepseek", "DEEPSEEK_API_KEY", "DEEPSEEK_API_KEY"),
		rule("cerebras", "CEREBRAS_API_KEY", "CEREBRAS_API_KEY"),
		rule("github-models", "GITHUB_TOKEN", "GITHUB_TOKEN"),
		rule("github-copilot", "GITHUB_TOKEN", "GITHUB_TOKEN"),
		rule("huggingface", "HF_TOKEN", "HF_TOKEN"),
	}
}
