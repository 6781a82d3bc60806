package grammar

import (
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// variableShape is a variable's name that a shell can pass on.
var variableShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsVariable reports whether a text can be the name of a variable.
func IsVariable(name string) bool { return variableShape.MatchString(name) }

// IsSet reports whether a variable has a value other than "", "0" and "false".
func IsSet(vars map[string]string, name string) bool {
	return !slices.Contains([]string{"", "0", "false"}, strings.ToLower(vars[name]))
}

// Matches reports whether a name is in a list of patterns, in which "*" stands for
// any text. Windows folds the case of names.
func Matches(patterns []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Without returns the "NAME=value" entries whose names match none of the patterns.
func Without(environ, patterns []string) []string {
	if len(patterns) == 0 {
		return environ
	}
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return Matches(patterns, name)
	})
}

// SetAll sets the variables of a list of "NAME=value"; the later of two wins.
func SetAll(vars map[string]string, list []string) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
}

// FirstSet is the first variable, by name, that is set and matches one of the
// patterns; "" if there is none.
func FirstSet(patterns []string, vars map[string]string) (first string) {
	for name := range vars {
		if (first == "" || name < first) && IsSet(vars, name) && Matches(patterns, name) {
			first = name
		}
	}
	return first
}
