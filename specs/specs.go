// Package specs holds what clichain knows about each AI coding CLI, as data.
// It is the only place where a CLI's name means anything.
package specs

import (
	"github.com/clichain/clichain/clispec"
)

// All returns the built-in specs in the default fallback order. The values are
// fresh: change them freely.
func All() []clispec.Spec {
	return []clispec.Spec{Claude(), Gemini(), Cursor(), OpenCode(), Codex()}
}

// ByName returns the built-in spec of that name, such as "claude".
func ByName(name string) (clispec.Spec, bool) {
	for _, spec := range All() {
		if spec.Name == name {
			return spec, true
		}
	}
	return clispec.Spec{}, false
}
