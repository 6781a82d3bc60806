package grammar

import (
	"regexp"
	"strings"
)

// Placeholder is {field}; {field:json}, a JSON string; {field:text}, the same
// without its quotes, for a place inside one; or {field:list}, a JSON list of
// strings. JSON text around it is no problem: an object never begins with a
// brace and a letter.
var Placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(:json|:text|:list)?\}`)

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
