// Package instance makes another backend of a spec: one with a name of its own, and with variables that show the CLI
// another home. It knows no CLI by name, and does no I/O.
package instance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/pattern"
)

// Named is the spec under another name. Without a name it is the spec itself.
func Named(spec clispec.Spec, name string) clispec.Spec {
	if name != "" && name != spec.Name {
		spec.Name, spec.InstanceOf = name, cmp.Or(spec.InstanceOf, spec.Name)
	}
	return spec
}

// Environ is what the spec sets, as "NAME=value", sorted. The error is that of the first variable whose value is not
// known.
func Environ(spec *clispec.Spec, at grammar.Place) (list []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(spec.SetEnv)) {
		template, _ := grammar.ReadValue(spec.SetEnv[name]) // Validate has read it
		value, err := template.Value(at)
		if err != nil {
			return nil, fmt.Errorf("set_env.%s: %q: %w", name, spec.SetEnv[name], err)
		}
		list = append(list, name+"="+value)
	}
	return list, nil
}

// quoted matches a command in a hint.
var quoted = pattern.Of("`[^`]+`")

// Hints are those of the spec, whose commands are about the home that the spec's variables, and these, show the CLI:
// without them a person would log in elsewhere.
func Hints(spec *clispec.Spec, environ []string) map[call.Reason]string {
	prefix := homeOf(spec, environ)
	if prefix == "" {
		return spec.Hints
	}
	hints := map[call.Reason]string{}
	for reason, hint := range spec.Hints {
		hints[reason] = quoted().ReplaceAllStringFunc(hint, func(command string) string {
			return "`" + prefix + command[1:]
		})
	}
	return hints
}

// homeOf sets the variables on which it depends where the CLI has its files, in the words of a shell.
func homeOf(spec *clispec.Spec, environ []string) (prefix string) {
	words := map[string]string{}
	for name, value := range spec.SetEnv {
		words[name] = value
		if !strings.ContainsRune(value, '$') { // which a shell reads as we do
			words[name] = word(value)
		}
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		words[name] = word(value)
	}
	moves := homes(spec)
	for _, name := range slices.Sorted(maps.Keys(words)) {
		if slices.Contains(moves, name) {
			prefix += name + "=" + words[name] + " "
		}
	}
	return prefix
}

// homes are the variables in the paths of the CLI's own files, and the home itself.
func homes(spec *clispec.Spec) []string {
	files := slices.Clone(spec.Trust)
	for _, way := range spec.Login.Ways {
		files = append(files, way.Files...)
	}
	for _, rule := range spec.PassEnvIf {
		files = append(files, rule.Files...)
	}
	names := []string{"HOME"}
	for _, f := range files {
		template, _ := grammar.ReadPath(f.Path) // Validate has read it
		names = append(names, template.Variable())
	}
	return names
}

var plain = pattern.Of(`^[\w./~:@%+,-]*$`)

// word is a value as a word of a shell, which makes a path of "~" at its start.
func word(value string) string {
	if plain().MatchString(value) {
		return value
	}
	rest, inHome := strings.CutPrefix(value, "~/")
	text := "'" + strings.ReplaceAll(rest, "'", `'\''`) + "'"
	if inHome {
		return "~/" + text
	}
	return text
}
