package grammar

import (
	"strings"
)

// ElementPrefix begins a path that starts at an element of EventRule.Each.
const ElementPrefix = "@."

func Alternatives(value string) []string { return strings.Split(value, " ?? ") }
