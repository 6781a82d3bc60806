// Package instance derives further backends from a spec, with their own name and with environment variables that point
// the CLI to another home directory. It names no CLI and does no I/O.
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

// Named returns the spec under another name. An empty name keeps the name of the spec.
func Named(spec clispec.Spec, name string) clispec.Spec {
	if name != "" && name != spec.Name {
		spec.Name, spec.InstanceOf = name, cmp.Or(spec.InstanceOf, spec.Name)
	}
	return spec
}

// Environ returns the variables that the spec sets, as "NAME=value", sorted. The error is that of the first variable
// whose value is unknown.
func Environ(spec *clispec.Spec, at grammar.Place) (list []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(spec.SetEnv)) {
		template, _ := grammar.ReadValue(spec.SetEnv[name]) // Validate has parsed it
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

// Hints returns the hints of the spec. Their commands set the variables that select the CLI's home directory, because a
// user would otherwise log in elsewhere.
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

// homeOf returns shell assignments of the variables that determine where the CLI keeps its files.
func homeOf(spec *clispec.Spec, environ []string) (prefix string) {
	words := map[string]string{}
	for name, value := range spec.SetEnv {
		words[name] = value
		if !strings.ContainsRune(value, '$') { // a shell expands "$" as Value does
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

// homes returns the variables in the paths of the CLI's own files, and HOME itself.
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
		template, _ := grammar.ReadPath(f.Path) // Validate has parsed it
		names = append(names, template.Variable())
	}
	return names
}

var plain = pattern.Of(`^[\w./~:@%+,-]*$`)

// word quotes a value as a word of a shell. The shell expands "~" at its start.
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
