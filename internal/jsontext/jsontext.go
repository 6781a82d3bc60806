// Package jsontext validates JSON text, finds the documents in mixed output, and reads single members without decoding
// the rest. This is fast because most of a CLI's output consists of long strings. The package knows nothing of CLIs,
// events or specs, and does no I/O.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/clichain/clichain/internal/plaintext"
	"github.com/tidwall/gjson"
)

// MaxDepth is the maximum nesting depth. Real events stay below 30. A deeper value is a mistake, or an attack on the
// stack of a parser.
const MaxDepth = 200

// byteOrderMark precedes the first line in the output of some Windows shells.
var byteOrderMark = []byte("\ufeff")

// jsonSpace contains the characters that JSON allows between tokens.
const jsonSpace = " \t\r\n"

// ParseObject parses a line that is one JSON object. ok is false unless the whole line is valid, so a line that a kill
// has cut short is no event. The object shares the memory of line and is valid until line changes.
func ParseObject(line []byte) (gjson.Result, bool) {
	object, ok := wholeObject(line)
	if !ok && hasEscapes(line) {
		return wholeObject(plainText(line))
	}
	return object, ok
}

func wholeObject(line []byte) (gjson.Result, bool) {
	line = trimmed(line)
	if len(line) == 0 || line[0] != '{' {
		return gjson.Result{}, false
	}
	if end, ok := Value(line, MaxDepth); !ok || end < len(line) {
		return gjson.Result{}, false
	}
	return gjson.Parse(inPlace(line)), true
}

// inPlace converts without a copy, which would cost one allocation for each line.
func inPlace(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// hasEscapes reports whether text may contain terminal escape sequences. Valid JSON never contains the ESC byte, so
// removing the sequences loses nothing.
func hasEscapes(text []byte) bool { return bytes.IndexByte(text, 0x1b) >= 0 }

func plainText(text []byte) []byte { return plaintext.Escapes().ReplaceAll(text, nil) }

// maxCandidates is the maximum number of broken documents that Objects skips in one text.
const maxCandidates = 50

// Objects finds the JSON documents in a text, between banners and warnings. It returns their objects in order: the
// document itself, or the objects in an array. The objects share the memory of text.
func Objects(text []byte) (objects []gjson.Result) {
	if hasEscapes(text) {
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

// afterBroken returns the rest of a text to search after a document that is invalid from offset at. It skips the whole
// document, because its parts are no documents. A bracket without valid JSON after it belongs to a sentence:
// afterBroken skips only its line.
func afterBroken(text []byte, at int) []byte {
	if end, closed := balanced(inPlace(text)); closed {
		return nextLine(text[end:])
	}
	if len(bytes.TrimSpace(text[1:at])) == 0 && at < len(text) {
		return nextLine(text)
	}
	return nil
}

func nextLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[end:]
	}
	return nil
}

// lineStart returns the offset of the next bracket at the start of a line, or -1.
func lineStart(text []byte) int {
	for rest := text; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n\ufeff")
		if len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
			return len(text) - len(rest)
		}
		if rest = nextLine(rest); rest == nil {
			return -1
		}
	}
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

// Sole returns the only JSON value of a text: the whole text, or an object or array on separate lines between lines of
// prose. It returns an error if another line starts with a bracket, because the value would be ambiguous.
func Sole(text string) (string, error) {
	body := bytes.TrimSpace(bytes.TrimPrefix([]byte(text), byteOrderMark))
	err := json.Unmarshal(body, new(json.RawMessage))
	if err == nil {
		return string(body), nil
	}
	if start := lineStart(body); start >= 0 {
		body = body[start:]
		end, ok := Value(body, MaxDepth)
		if ok && aloneBefore(body[end:]) {
			return string(body[:end]), nil
		}
	}
	return "", fmt.Errorf("it is not a single JSON value: %w", err)
}

// aloneBefore reports whether rest, the text after a document, continues on the next line and contains no other
// document.
func aloneBefore(rest []byte) bool {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return len(bytes.TrimSpace(line)) == 0 && lineStart(rest) < 0
}

// Quote returns s as a JSON string with quotes.
func Quote(s string) string {
	quoted, _ := json.Marshal(s)
	return string(quoted)
}
