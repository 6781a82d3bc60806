package specfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// The bounds of a document. What people write stays far below; above are
// mistakes, and aliases of aliases of aliases.
const (
	MaxBytes = 1 << 20
	maxNodes = 50_000
	maxDepth = 100
)

var byteOrderMark = []byte("\ufeff")

// Parse reads the documents of a file: one of JSON, or any number of YAML.
// Documents without a value are left out. Where the file cannot be read as a
// whole there are none, and one mistake.
func Parse(data []byte) (documents []*Node, mistakes []Mistake) {
	if len(data) > MaxBytes {
		return nil, []Mistake{{Problem: fmt.Sprintf("the file is over %d bytes", MaxBytes)}}
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if at := invalidUTF8(data); at >= 0 {
		return nil, []Mistake{{Place: placeOf(data, at), Problem: "is no UTF-8: save the file in that encoding"}}
	}
	// Not all JSON is YAML: surrogates, long keys. Not all that begins like
	// JSON is JSON.
	notJSON := checkJSON(data)
	if notJSON == nil {
		return parseJSON(data)
	}
	documents, mistakes, notYAML := parseYAML(data)
	switch {
	case notYAML == nil:
		return documents, mistakes
	case looksLikeJSON(data):
		return nil, []Mistake{*notJSON}
	}
	return nil, []Mistake{*notYAML}
}

func looksLikeJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}

// placeOf is the place of a byte.
func placeOf(data []byte, offset int) Place {
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Place{1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[line:])}
}

// builder holds what both formats have to bound.
type builder struct {
	nodes    int
	mistakes []Mistake
	full     bool // a bound was passed: the tree is not whole
}

func (b *builder) add(at Place, problem string) {
	b.mistakes = append(b.mistakes, Mistake{Place: at, Problem: problem})
}

// room reports whether there is room for one more value.
func (b *builder) room(at Place, depth int) bool {
	b.nodes++
	switch {
	case b.full:
	case b.nodes > maxNodes:
		b.full = true
		b.add(at, fmt.Sprintf("the file has over %d values", maxNodes))
	case depth > maxDepth:
		b.full = true
		b.add(at, fmt.Sprintf("the file is nested deeper than %d levels", maxDepth))
	}
	return !b.full
}

// checkJSON says why a text is no JSON.
func checkJSON(data []byte) *Mistake {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return nil
	}
	at := len(data)
	if syntax, ok := err.(*json.SyntaxError); ok {
		at = int(syntax.Offset) - 1
	}
	return &Mistake{Place: placeOf(data, at), Problem: err.Error()}
}
