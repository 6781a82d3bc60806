package home

import "testing"

// pi configures the server as a known vendor, and stores the key where the CLI stores it.
func pi(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	h.json(t, ".pi/agent/models.json", object{"providers": object{"openai": object{
		"baseUrl": url + "/v1", "api": "openai-completions",
		"models": []object{{"id": "m1", "input": []string{"text", "image"}}},
	}}})
	h.json(t, ".pi/agent/settings.json", object{"defaultProvider": "openai", "defaultModel": "m1"})
	if state == LoggedIn {
		h.json(t, ".pi/agent/auth.json", object{"openai": object{"type": "api_key", "key": Key}})
	}
	return nil
}
