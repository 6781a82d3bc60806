// Package grammar parses the notations inside the strings of a spec: placeholders, path templates and patterns of
// environment variables. It names no CLI and does no I/O.
package grammar

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// ElementPrefix begins a path that starts at an element of EventRule.Each.
const ElementPrefix = "@."

// MembersSuffix ends a path in EventRule.Each that selects the members of an object as elements.
const MembersSuffix = "|@members"

// MostModifier in EventRule.Set separates the path of an object from a name. The value is the name of the member of
// that object whose number of this name is the greatest.
const MostModifier = "|@most:"

// EmptyDir is the name of the empty directory among the temporary files of a call.
const EmptyDir = "empty"

// Alternatives splits a value of EventRule.Set at " ?? ".
func Alternatives(value string) []string { return strings.Split(value, " ?? ") }

// Placeholder matches {field}; {field:json}, a JSON string; {field:text}, the same without quotes, for use inside a
// string; and {field:list}, a JSON list of strings. It does not match surrounding JSON text, in which no letter follows
// an opening brace.
var Placeholder = pattern.Of(`\{([a-z][a-z0-9_]*)(:json|:text|:list)?\}`)

// ParsePlaceholder splits a match of Placeholder. form is "" for {field}.
func ParsePlaceholder(m string) (name, form string) {
	name, form, _ = strings.Cut(strings.Trim(m, "{}"), ":")
	return name, form
}

// TemplateFields lists the fields that a template names.
func TemplateFields(template string) (names []string) {
	for _, m := range Placeholder().FindAllString(template, -1) {
		name, _ := ParsePlaceholder(m)
		names = append(names, name)
	}
	return names
}

// IsVariable reports whether a text can be the name of an environment variable that a shell can pass on.
func IsVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// IsVariablePattern reports whether a text is the name of an environment variable, or a prefix of names and "*".
func IsVariablePattern(text string) bool { return IsVariable(strings.TrimSuffix(text, "*")) }

// IsSet reports whether a variable has a value other than "", "0" and "false".
func IsSet(vars map[string]string, name string) bool {
	return !slices.Contains([]string{"", "0", "false"}, strings.ToLower(vars[name]))
}

// Matches reports whether a name matches a pattern of the list, in which "*" stands for any text. On Windows the case
// of names does not matter.
func Matches(patterns []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
}

// matches is path.Match with a comparison of the literal prefix before it: a call compares thousands of names, and
// nearly all differ from the start.
func matches(pattern, name string) bool {
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case c == '*', c == '?', c == '[', c == '\\':
			ok, _ := path.Match(pattern[i:], name[i:])
			return ok
		case i == len(name), c != name[i]:
			return false
		}
	}
	return len(name) == len(pattern)
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

// SetAll sets the variables of a list of "NAME=value". A later entry overrides an earlier one.
func SetAll(vars map[string]string, list []string) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
}

// FirstSet returns the name of the first variable, in the order of names, that is set and matches one of the patterns.
// It returns "" if there is none.
func FirstSet(patterns []string, vars map[string]string) (first string) {
	for name := range vars {
		if (first == "" || name < first) && IsSet(vars, name) && Matches(patterns, name) {
			first = name
		}
	}
	return first
}
