package clichain

import (
	"github.com/tidwall/gjson"
)

// Lookup is the value at a path of a JSON object.
func Lookup(json, path string) gjson.Result {
	var o Object
	o.Open(gjson.Parse(json))
	p := ParsePath(path)
	return o.Get(&p)
}

// MatchesText reports whether an anchored pattern of a rule matches a text.
func MatchesText(pattern, text string) bool { return textMatcher(pattern)(text) }

// PlainText leaves out what colours a text on a terminal.
func PlainText(text string) string { return escapes.ReplaceAllString(text, "") }
