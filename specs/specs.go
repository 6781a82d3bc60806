// Package specs has the specs of the supported AI coding CLIs, and loads and validates files of further specs. It is
// the only package that contains the names of CLIs, and it starts none of them.
package specs

import "github.com/clichain/clichain/clispec"

// All returns the specs of the default chain, in its order. Each call returns new values, which the caller may
// modify.
func All() []clispec.Spec {
	return []clispec.Spec{Claude(), Gemini(), Cursor(), OpenCode(), Codex()}
}

// Every returns all built-in specs: those of All, followed by those that are used only on request. Each call returns
// new values, which the caller may modify.
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

// ByName returns the built-in spec with the name, such as "claude"; ok is false if there is none.
func ByName(name string) (spec clispec.Spec, ok bool) {
	for _, spec := range Every() {
		if spec.Name == name {
			return spec, true
		}
	}
	return clispec.Spec{}, false
}
