// Package specfile reads a document of JSON or YAML into Go values, strictly:
// it knows the place of each value, takes no field that the type does not
// have, and gathers all mistakes instead of stopping at the first. It knows
// nothing about specs but their size.
package specfile

import (
	"fmt"
	"strings"
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

var kindNames = []string{"nothing", "a text", "a number", "true or false", "a list", "a map"}

// String is what a person reads.
func (k Kind) String() string { return kindNames[k] }

// Node is one value of a document, with its place.
type Node struct {
	Place
	Kind    Kind
	Value   string // of a Text, Number or Bool
	Plain   bool   // YAML without quotes: the text is as good as the type
	Tag     string // of YAML, where one is written
	Items   []*Node
	Entries []Entry // of a Map, in the order of the file
}

// Entry is a key of a map with its value. A map may have a key twice.
type Entry struct {
	Key   string
	Place Place // of the key
	Value *Node
}

// Place is where something begins; both count from 1, in characters. The zero
// value is the file as a whole.
type Place struct{ Line, Column int }

// String is what a person reads.
func (p Place) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Mistake is something in a document that cannot be taken.
type Mistake struct {
	Place
	Path    string // such as "args[2].when.access[0]"
	Problem string // what is wrong, and what to do
}

// Get is the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Within reports whether a path is that of a value, or of something in it.
func Within(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Find returns the place of the value at a path, or of the nearest one around
// it. A key in a path may hold dots and brackets itself: the longest one that
// fits is meant. A name that is a key of the map there gives that key's place.
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

// step goes one step along the path.
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
