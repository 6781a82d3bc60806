package clichain

import (
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// variableShape is a variable's name that survives a shell.
var variableShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isVariable reports whether a text can be the name of a variable.
func isVariable(name string) bool { return variableShape.MatchString(name) }

// isSet reports whether a variable has a value that means yes.
func isSet(vars map[string]string, name string) bool {
	return !slices.Contains([]string{"", "0", "false"}, strings.ToLower(vars[name]))
}

// matchesEnv reports whether a variable is in a list whose entries may end in
// "*". Windows folds the case of names.
func matchesEnv(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// withoutEnv is a list of variables without those that patterns name.
func withoutEnv(environ, patterns []string) []string {
	if len(patterns) == 0 {
		return environ
	}
	var kept []string
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !matchesEnv(patterns, name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// setAll sets the variables of a list; the later of two wins.
func setAll(vars map[string]string, list []string) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
}

// setVariable is the first variable of a list that is set, in the order of
// their names.
func setVariable(list []string, vars map[string]string) string {
	var found []string
	for name := range vars {
		if isSet(vars, name) && matchesEnv(list, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}
