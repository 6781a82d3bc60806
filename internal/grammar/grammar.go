// Package grammar has the notations inside the texts of a spec: placeholders,
// path templates, patterns of variables. It knows no CLI by name and does no
// I/O.
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

// MembersSuffix ends the path of an object in EventRule.Each, whose members are the elements.
const MembersSuffix = "|@members"

// MostModifier parts a path in EventRule.Set from the name of a number in each member of the object there: the value is
// the name of the member that has the greatest.
const MostModifier = "|@most:"

// EmptyDir is the name of a call's empty directory among its temporary files.
const EmptyDir = "empty"

// Alternatives splits a value of EventRule.Set at its " ?? ".
func Alternatives(value string) []string { return strings.Split(value, " ?? ") }

// Placeholder is {field}; {field:json}, a JSON string; {field:text}, the same
// without its quotes, for a place inside one; or {field:list}, a JSON list of
// strings. It does not match JSON text around it, where no letter follows the
// brace of an object.
var Placeholder = pattern.Of(`\{([a-z][a-z0-9_]*)(:json|:text|:list)?\}`)

// ParsePlaceholder takes a match of Placeholder apart; form is "" for {field}.
func ParsePlaceholder(m string) (name, form string) {
	name, form, _ = strings.Cut(strings.Trim(m, "{}"), ":")
	return name, form
}

// TemplateFields lists the fields a template names.
func TemplateFields(template string) (names []string) {
	for _, m := range Placeholder().FindAllString(template, -1) {
		name, _ := ParsePlaceholder(m)
		names = append(names, name)
	}
	return names
}

// variableShape is a variable's name that a shell can pass on.
var variableShape = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsVariable reports whether a text can be the name of a variable.
func IsVariable(name string) bool { return variableShape().MatchString(name) }

// IsVariablePattern reports whether a text is the name of a variable, or the beginning of some before a "*".
func IsVariablePattern(text string) bool { return IsVariable(strings.TrimSuffix(text, "*")) }

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
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
}

// matches is path.Match, to which it leaves what follows the first sign of a pattern: a call compares thousands, and
// nearly all differ at once.
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
