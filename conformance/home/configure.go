package home

import (
	"fmt"
	"testing"
)

type object = map[string]any

// configurations write the files that point a CLI at the server, and return its environment.
var configurations = map[string]func(t testing.TB, h Home, url string, state State) []string{
	Claude:   claude,
	Cline:    cline,
	Codex:    codex,
	Copilot:  copilot,
	Gemini:   gemini,
	Kimi:     kimi,
	OpenCode: openCode,
	Pi:       pi,
	Kilo:     kilo,
	Qwen:     qwen,
}

func claude(t testing.TB, h Home, url string, state State) []string {
	env := []string{"ANTHROPIC_BASE_URL=" + url, "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	if state == LoggedIn {
		env = append(env, "ANTHROPIC_API_KEY="+Key)
	}
	if state == Subscribed {
		h.json(t, ".claude/.credentials.json", object{"claudeAiOauth": object{
			"accessToken": Key, "refreshToken": Key, "expiresAt": int64(4102444800000), // the year 2100: never refreshed
			"scopes": []string{"user:inference", "user:profile"}, "subscriptionType": "max"}})
	}
	return env
}

func codex(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	// The CLI knows this model and sends its tools one by one, unlike the tools of its default model.
	h.Write(t, ".codex/config.toml", fmt.Sprintf("model = \"gpt-5.5\"\nopenai_base_url = %q\n", url+"/v1"))
	if state == LoggedIn {
		h.json(t, ".codex/auth.json", object{"auth_mode": "apikey", "OPENAI_API_KEY": Key})
	}
	return nil
}

func gemini(t testing.TB, h Home, url string, state State) []string {
	env := []string{"GOOGLE_GEMINI_BASE_URL=" + url}
	if state == Subscribed {
		h.json(t, ".gemini/settings.json", object{"security": object{"auth": object{"selectedType": "oauth-personal"}}})
		return append(env, "CODE_ASSIST_ENDPOINT="+url, "GOOGLE_GENAI_USE_GCA=true", "GOOGLE_CLOUD_ACCESS_TOKEN="+Key)
	}
	if state == LoggedIn {
		h.json(t, ".gemini/settings.json", object{"security": object{"auth": object{"selectedType": "gemini-api-key"}}})
		env = append(env, "GEMINI_API_KEY="+Key)
	}
	return env
}

func openCode(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	config := openCodeConfig(url, state)
	config["$schema"] = "https://opencode.ai/config.json" // otherwise the CLI writes this line at its first start
	h.json(t, ".config/opencode/opencode.json", config)
	// Without a network the CLI would wait for the list of models, for a long time and without output.
	return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
}

// openCodeConfig returns a configuration that has the server as a provider.
func openCodeConfig(url string, state State) object {
	config := object{"autoupdate": false}
	if state == LoggedIn {
		config["model"] = "loop/m1"
		config["provider"] = object{"loop": object{"npm": "@ai-sdk/openai-compatible", "name": "loop",
			"options": object{"baseURL": url + "/v1", "apiKey": Key}, "models": object{"m1": object{"name": "m1",
				"attachment": true, "modalities": object{"input": []string{"text", "image"}, "output": []string{"text"}}}}}}
	}
	return config
}

func qwen(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	env := []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=m1"}
	if state == LoggedIn {
		env = append(env, "OPENAI_API_KEY="+Key)
	}
	return env
}

func onlyKeys(t testing.TB, name string, state State) {
	t.Helper()
	if state == Subscribed {
		t.Fatalf("%s has no subscription that can be faked: use home.LoggedIn", name)
	}
}
