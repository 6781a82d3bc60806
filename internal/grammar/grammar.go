// Package grammar has the notations inside the texts of a spec: placeholders,
// path templates, patterns of variables. It knows no CLI by name and does no
// I/O.
package grammar

import (
	"regexp"
	"strings"
)

// ElementPrefix begins a path that starts at an element of EventRule.Each.
const ElementPrefix = "@."

// Alternatives splits a value of EventRule.Set at its " ?? ".
func Alternatives(value string) []string { return strings.Split(value, " ?? ") }

// Placeholder is {field}; {field:json}, a JSON string; {field:text}, the same
// without its quotes, for a place inside one; or {field:list}, a JSON list of
// strings. It does not match JSON text around it, where no letter follows the
// brace of an object.
var Placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(:json|:text|:list)?\}`)

// ParsePlaceholder takes a match of Placeholder apart; form is "" for {field}.
func ParsePlaceholder(m string) (name, form string) {
	name, form, _ = strings.Cut(strings.Trim(m, "{}"), ":")
	return name, form
}

// TemplateFields lists the fields a template names.
func TemplateFields(template string) (names []string) {
	for _, m := range Placeholder.FindAllString(template, -1) {
		name, _ := ParsePlaceholder(m)
		names = append(names, name)
	}
	return names
}
