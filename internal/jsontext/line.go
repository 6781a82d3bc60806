package jsontext

import (
	"bytes"
	"encoding/json"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/internal/plaintext"
)

// MaxDepth is the deepest nesting that is read. Real events stay below 30; a
// deeper value is a mistake or an attack on the stack of a parser.
const MaxDepth = 200

// byteOrderMark is what some Windows shells put before the first line.
var byteOrderMark = []byte("\ufeff")

// jsonSpace is all that JSON allows between its parts.
const jsonSpace = " \t\r\n"

// ParseObject reads one JSON object. Nothing that does not parse as a whole is
// ever acted on: a line cut short by a kill is no event. The object shares the
// memory of line, and is valid as long as that does not change.
func ParseObject(line []byte) (gjson.Result, bool) {
	object, ok := wholeObject(line)
	if !ok && coloured(line) {
		return wholeObject(plainText(line))
	}
	return object, ok
}

func wholeObject(line []byte) (gjson.Result, bool) {
	line = bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), jsonSpace)
	if len(line) == 0 || line[0] != '{' {
		return gjson.Result{}, false
	}
	if end, ok := Value(line, MaxDepth); !ok || end < len(line) {
		return gjson.Result{}, false
	}
	return gjson.Parse(inPlace(line)), true
}

// inPlace is a text without a copy, which would be as much garbage as there
// are lines.
func inPlace(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// coloured reports whether there may be escape sequences of a terminal. No
// JSON has that byte, so whatever it is part of can only be in the way.
func coloured(text []byte) bool { return bytes.IndexByte(text, 0x1b) >= 0 }

func plainText(text []byte) []byte { return plaintext.Escapes.ReplaceAll(text, nil) }

// maxCandidates bounds the search for documents in a text full of brackets.
const maxCandidates = 50

// Objects finds the JSON documents in a text, among banners and
// warnings, and returns their objects in order: a document itself, or the
// elements of an array. The objects share the memory of text.
func Objects(text []byte) (objects []gjson.Result) {
	if coloured(text) {
		text = plainText(text)
	}
	for failures := 0; failures < maxCandidates; {
		start := lineStart(text)
		if start < 0 {
			break
		}
		text = text[start:]
		end, ok := Value(text, MaxDepth)
		if ok {
			objects = append(objects, objectsOf(gjson.Parse(inPlace(text[:end])))...)
			text = text[end:]
			continue
		}
		failures++
		text = afterBroken(text, end)
	}
	return objects
}

// afterBroken is what may be read after text that begins like a document and
// stops being one at a place. What is inside a broken document is no document,
// so all of it is skipped; a bracket that is just part of a sentence is not one.
func afterBroken(text []byte, at int) []byte {
	if end, closed := Balanced(inPlace(text)); closed {
		return nextLine(text[end:])
	}
	if len(bytes.TrimSpace(text[1:at])) == 0 && at < len(text) {
		return nextLine(text)
	}
	return nil
}

func nextLine(text []byte) []byte {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return nil
	}
	return text[end:]
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
	for element := range Elements(doc.Raw) {
		if element[0] == '{' {
			objects = append(objects, gjson.Parse(element))
		}
	}
	return objects
}

// Quote is a text as a JSON string.
func Quote(s string) string {
	quoted, _ := json.Marshal(s) // a string always marshals
	return string(quoted)
}
