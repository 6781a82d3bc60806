package clichain

import (
	"github.com/clichain/clichain/internal/skiplist"
)

// Suppressed reports whether the environment turns all CLIs off: SKIP_CLI or one of its aliases is or contains "1",
// "true", "yes", "on" or "all", in any case. It reads the environment on each call and is safe for concurrent use.
func Suppressed() bool {
	_, ok := SuppressedBy("")
	return ok
}

// SuppressedBy returns the first environment variable that turns the named backend off, either with all others or in
// a list such as "claude,gemini"; ok is false if there is none. A misspelled name such as "cluade" turns off every
// backend that it resembles. The list can also have the provider slug of the backend, or the name of its spec if the
// backend is an instance. SuppressedBy knows the instances that this process has made, and the specs of package specs
// if the program imports it.
func SuppressedBy(name string) (variable string, ok bool) {
	variable = skiplist.ByName(name)
	return variable, variable != ""
}
