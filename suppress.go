package clichain

import (
	"github.com/clichain/clichain/internal/skiplist"
)

// Suppressed reports whether the environment turns every CLI off: SKIP_CLI or
// one of its aliases is "1", "true", "yes", "on" or "all", in any case, or has
// such a word among names. It reads the environment anew each time and is safe
// for concurrent use.
func Suppressed() bool {
	_, ok := SuppressedBy("")
	return ok
}

// SuppressedBy returns the first variable that turns the named backend off,
// either as all others or by name in a list such as "claude,gemini". A word that
// is the name of no backend, such as "cluade", turns off what it may have meant.
// The list can also have the provider slug of the backend, and the name of the spec
// that it is an instance of: of the backends that this process has made, and of
// those of package specs where the program imports it.
func SuppressedBy(name string) (variable string, ok bool) {
	variable = skiplist.ByName(name)
	return variable, variable != ""
}
