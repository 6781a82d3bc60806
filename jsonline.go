package clichain

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// maxDepth is the deepest nesting that is read. Real events stay below 30; a
// deeper value is a mistake or an attack on the parser's stack.
const maxDepth = 200

// byteOrderMark is what some Windows shells put before the first line.
var byteOrderMark = []byte("\ufeff")

// parseObject reads one JSON object. Nothing that does not parse as a whole is
// ever acted on: a line cut short by a kill is no event.
func parseObject(text []byte) (gjson.Result, bool) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
	if len(text) == 0 || text[0] != '{' || !shallow(text) || !gjson.ValidBytes(text) {
		return gjson.Result{}, false
	}
	return gjson.ParseBytes(text), true
}

// shallow reports whether the nesting stays within maxDepth. It must look
// before a parser does: parsers recurse.
func shallow(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i+1)
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}

// stringEnd finds the quote that ends a string, or the end of the text. Most
// of a long line is in strings, where nothing else counts.
func stringEnd(text []byte, i int) int {
	for i < len(text) {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		slashes := 0
		for slashes < n && text[i+n-1-slashes] == '\\' {
			slashes++
		}
		if i += n + 1; slashes%2 == 0 {
			return i - 1
		}
	}
	return len(text)
}

// maxCandidates bounds the search for a document in a text full of brackets.
const maxCandidates = 50

// documentObjects finds the JSON document at the end of a text, after banners
// and warnings, and returns its objects: the document itself, or the elements
// of an array.
func documentObjects(text []byte) []gjson.Result {
	rest := text
	for range maxCandidates {
		start := lineStart(rest)
		if start < 0 {
			return nil
		}
		rest = rest[start:]
		if doc := bytes.TrimSpace(rest); shallow(doc) && gjson.ValidBytes(doc) {
			return objectsOf(gjson.ParseBytes(doc))
		}
		rest = rest[1:]
	}
	return nil
}

// lineStart finds the next line that begins with a bracket.
func lineStart(text []byte) int {
	for offset := 0; offset < len(text); {
		line := text[offset:]
		if trimmed := bytes.TrimLeft(line, " \t\r\n\ufeff"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
			return offset + len(line) - len(trimmed)
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			break
		}
		offset += end + 1
	}
	return -1
}

func objectsOf(doc gjson.Result) []gjson.Result {
	if doc.IsObject() {
		return []gjson.Result{doc}
	}
	var objects []gjson.Result
	for _, element := range doc.Array() {
		if element.IsObject() {
			objects = append(objects, element)
		}
	}
	return objects
}
