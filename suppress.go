package clichain

import (
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// suppressVariables turn CLIs off, in the order in which they are asked.
var suppressVariables = []string{
	"SKIP_CLI", "CLICHAIN_SKIP_CLI", "NOETHER_LLM_SKIP_CLI", "CALORON_LLM_SKIP_CLI", "LLM_HERE_SKIP_CLI",
}

// Suppressed reports whether the environment turns every CLI off: SKIP_CLI or
// one of its aliases is "1", "true", "yes", "on" or "all", in any case. It
// reads the environment anew each time and is safe for concurrent use.
func Suppressed() bool {
	_, ok := SuppressedBy("")
	return ok
}

// SuppressedBy returns the first variable that turns the named backend off,
// either as all others or by name in a list such as "claude,gemini".
func SuppressedBy(name string) (variable string, ok bool) { return suppressedBy(name) }

func suppressedBy(names ...string) (variable string, ok bool) {
	for _, variable := range suppressVariables {
		value := os.Getenv(variable)
		if value != "" && slices.ContainsFunc(names, func(name string) bool { return suppresses(value, name) }) {
			return variable, true
		}
	}
	return "", false
}

// suppresses reads one value. "0", "false" and the like turn nothing off.
func suppresses(value, name string) bool {
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(",; \t\r\n", r) })
	return slices.ContainsFunc(words, func(word string) bool {
		switch word {
		case "1", "true", "yes", "on", "all":
			return len(words) == 1
		}
		return name != "" && word == strings.ToLower(name)
	})
}

// checkSuppressed is the skip of a backend that the environment turns off, by
// its name or its slug.
func checkSuppressed(spec *CliSpec) *BackendError {
	variable, ok := suppressedBy(spec.Name, spec.ProviderSlug)
	if !ok {
		return nil
	}
	err := call.Errorf(ReasonSuppressed, "", "suppressed by %s=%s", variable, plaintext.OneLine(os.Getenv(variable)))
	err.Hint = "unset " + variable
	return err
}
