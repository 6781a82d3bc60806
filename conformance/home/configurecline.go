package home

import "testing"

// cline configures the server as a known provider, and stores the key where the CLI stores it.
func cline(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	settings := object{"provider": "openai-compatible", "baseUrl": url + "/v1", "model": "m1"}
	if state == LoggedIn {
		settings["apiKey"] = Key
	}
	h.json(t, ".cline/data/settings/providers.json", object{
		"version": 1, "lastUsedProvider": "openai-compatible", "providers": object{"openai-compatible": object{
			"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
		}},
	})
	return nil
}
