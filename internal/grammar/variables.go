package grammar

import (
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// variableShape is a variable's name that survives a shell.
var variableShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsVariable reports whether a text can be the name of a variable.
func IsVariable(name string) bool { return variableShape.MatchString(name) }

// IsSet reports whether a variable has a value that means yes.
func IsSet(vars map[string]string, name string) bool {
	return !slices.Contains([]string{"", "0", "false"}, strings.ToLower(vars[name]))
}

// Matches reports whether a variable is in a list whose entries may end in
// "*". Windows folds the case of names.
func Matches(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Without is a list of variables without those that patterns name.
func Without(environ, patterns []string) []string {
	if len(patterns) == 0 {
		return environ
	}
	var kept []string
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !Matches(patterns, name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// SetAll sets the variables of a list; the later of two wins.
func SetAll(vars map[string]string, list []string) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
}

// FirstSet is the first variable of a list that is set, in the order of
// their names.
func FirstSet(list []string, vars map[string]string) string {
	var found []string
	for name := range vars {
		if IsSet(vars, name) && Matches(list, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}
