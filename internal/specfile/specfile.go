// Package specfile reads JSON and YAML documents into Go values. It is strict: it records the place of each value,
// rejects unknown fields, and collects all mistakes instead of stopping at the first. Its limits fit specs, but it
// knows nothing else about them, and it opens no files.
package specfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a [Node].
type Kind int

// The kinds of a Node.
const (
	Null Kind = iota
	Text
	Number
	Bool
	List
	Map
)

var kindNames = []string{"nothing", "a string", "a number", "true or false", "a list", "a map"}

// String returns the kind in words, such as "a list".
func (k Kind) String() string { return kindNames[k] }

// Node is one value of a document and its place.
type Node struct {
	Place
	Kind    Kind
	Value   string // value of a Text, Number or Bool
	Plain   bool   // YAML value without quotes, which can be read as text whatever its Kind
	Tag     string // explicit YAML tag, if any
	Items   []*Node
	Entries []Entry // members of a Map, in the order of the file
}

// Entry is a key of a map with its value. A map can contain duplicate keys.
type Entry struct {
	Key   string
	Place Place // place of the key
	Value *Node
}

// Place is the position at which a value begins. Both numbers count from 1, and Column counts characters. The zero
// value stands for the whole file.
type Place struct{ Line, Column int }

// String returns "line:column".
func (p Place) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Mistake is an error in a document.
type Mistake struct {
	Place
	Path    string // such as "args[2].when.access[0]"
	Problem string // the error, and the remedy
}

// Get returns the value of a key, or nil if the node is not a map or does not have the key.
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Within reports whether path equals of, or is the path of a value inside the value at of.
func Within(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Find returns the place of the value at a path, or of the innermost existing value around it. Keys may contain dots
// and brackets; of several matching keys, Find uses the longest. If name is a key of the map at path, Find returns its
// place.
func (n *Node) Find(path, name string) Place {
	if path == "" {
		for _, e := range n.Entries {
			if name != "" && e.Key == name {
				return e.Place
			}
		}
		return n.Place
	}
	if child, rest := n.step(path); child != nil {
		return child.Find(rest, name)
	}
	return n.Place
}

func (n *Node) step(path string) (next *Node, rest string) {
	for i, item := range n.Items {
		if after, ok := strings.CutPrefix(path, fmt.Sprintf("[%d]", i)); ok {
			return item, after
		}
	}
	path, longest := strings.TrimPrefix(path, "."), -1
	for _, e := range n.Entries {
		for _, key := range []string{e.Key, "[" + e.Key + "]"} {
			if Within(path, key) && len(key) > longest {
				next, rest, longest = e.Value, path[len(key):], len(key)
			}
		}
	}
	return next, rest
}

// The limits of a document, far above real specs. They stop documents that grow by aliases of aliases.
const (
	MaxBytes = 1 << 20 // maximum size of a file that [Parse] reads
	maxNodes = 50_000
	maxDepth = 100
)

var byteOrderMark = []byte("\ufeff")

// Parse parses the documents of a file: one JSON document, or any number of YAML documents. It omits documents without
// a value. A file with a syntax error gives no documents and one mistake.
func Parse(data []byte) (documents []*Node, mistakes []Mistake) {
	if len(data) > MaxBytes {
		return nil, []Mistake{{Problem: fmt.Sprintf("the file is larger than %d bytes", MaxBytes)}}
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if at := invalidUTF8(data); at >= 0 {
		return nil, []Mistake{{Place: placeOf(data, at), Problem: "is not UTF-8: save the file as UTF-8"}}
	}
	// Parse tries JSON first, because some JSON is not valid YAML: surrogates and long keys.
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

// looksLikeJSON decides which syntax error to report.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
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

func placeOf(data []byte, offset int) Place {
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Place{1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[line:])}
}

type builder struct {
	nodes    int
	mistakes []Mistake
	full     bool // a limit was exceeded, so the tree is incomplete
}

func (b *builder) add(at Place, problem string) {
	b.mistakes = append(b.mistakes, Mistake{Place: at, Problem: problem})
}

// admit counts one more value and reports whether the limits allow it.
func (b *builder) admit(at Place, depth int) bool {
	b.nodes++
	switch {
	case b.full:
	case b.nodes > maxNodes:
		b.full = true
		b.add(at, fmt.Sprintf("the file has more than %d values", maxNodes))
	case depth > maxDepth:
		b.full = true
		b.add(at, fmt.Sprintf("the file is nested deeper than %d levels", maxDepth))
	}
	return !b.full
}

// checkJSON returns nil for valid JSON, otherwise the first syntax error.
func checkJSON(data []byte) *Mistake {
	err := json.Unmarshal(data, new(json.RawMessage))
	if err == nil {
		return nil
	}
	at := len(data)
	if syntax, ok := err.(*json.SyntaxError); ok {
		at = int(syntax.Offset) - 1
	}
	return &Mistake{Place: placeOf(data, at), Problem: err.Error()}
}
