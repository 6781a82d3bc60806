package home

import "testing"

// kilo takes the configuration of opencode, which it was made from.
func kilo(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	h.json(t, ".config/kilo/kilo.json", openCodeConfig(url, state))
	// Without a network it would wait for the list of models, and for telemetry and an index of the folder.
	return []string{"KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_AUTOUPDATE=1", "KILO_TELEMETRY_LEVEL=off",
		"KILO_DISABLE_CODEBASE_INDEXING=vscode-no-workspace"}
}
