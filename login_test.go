package clichain_test

import "testing"

// logIn gives every CLI a key, as on a machine where they are in use.
func logIn(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CURSOR_API_KEY", "CODEX_API_KEY"} {
		t.Setenv(name, "x")
	}
}
