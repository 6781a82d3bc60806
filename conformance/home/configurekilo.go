package home

import "testing"

// kilo uses the configuration of opencode, of which it is a fork.
func kilo(t testing.TB, h Home, url string, state State) []string {
	onlyKeys(t, h.Name, state)
	h.json(t, ".config/kilo/kilo.json", openCodeConfig(url, state))
	// Without a network the CLI would wait for the list of models, for telemetry and for an index of the directory.
	return []string{"KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_AUTOUPDATE=1", "KILO_TELEMETRY_LEVEL=off",
		"KILO_DISABLE_CODEBASE_INDEXING=vscode-no-workspace"}
}
