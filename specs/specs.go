// Package specs holds what clichain knows about each AI coding CLI, as data, and
// loads and checks files with further specs. It is the only package that knows
// CLIs by name; it starts none of them.
package specs

import "github.com/clichain/clichain/clispec"

// All returns the built-in specs in the default order of a chain. Each call makes
// new values, which the caller may change.
func All() []clispec.Spec {
	return []clispec.Spec{Claude(), Gemini(), Cursor(), OpenCode(), Codex()}
}

// Every returns all built-in specs: those of All, and then those that a chain asks
// only where it is told to. Each call makes new values, which the caller may change.
func Every() []clispec.Spec {
	return append(All(),
		Copilot(),
		Kimi(),
		Pi(),
		Kilo(),
		Cline(),
		Qwen(),
		Agy(),
	)
}

// ByName returns the built-in spec of that name, such as "claude", and whether
// there is one.
func ByName(name string) (clispec.Spec, bool) {
	for _, spec := range Every() {
		if spec.Name == name {
			return spec, true
		}
	}
	return clispec.Spec{}, false
}
