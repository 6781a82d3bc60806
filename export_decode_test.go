package clichain

import "github.com/tidwall/gjson"

// EventsOf is what a run does with one line: the events are valid until the
// next call.
func (e *Engine) EventsOf(line []byte) []Event {
	root, ok := parseObject(line)
	if !ok {
		return nil
	}
	return plainEvents(e.program.events(&e.scratch, root))
}

// Lookup is the value at a path of a JSON object.
func Lookup(json, path string) gjson.Result {
	var o object
	o.open(gjson.Parse(json))
	p := parsePath(path)
	return o.get(&p)
}

// MatchesText reports whether an anchored pattern of a rule matches a text.
func MatchesText(pattern, text string) bool { return textMatcher(pattern)(text) }

// PlainText leaves out what colours a text on a terminal.
func PlainText(text string) string { return string(plainText([]byte(text))) }
