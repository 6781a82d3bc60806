package structured

import (
	"encoding/json"
	"math/big"
	"regexp"
)

// node is one schema, compiled for the basic checker. The zero value accepts every value.
type node struct {
	constant *bool // for the schemas true, false and {}

	types    []string // in the order of typeOrder; nil for any
	only     *any     // const
	enum     []any
	hasEnum  bool
	dateTime bool // format
	ref      *node

	sizes      []sizeRule
	required   []string
	properties map[string]*node
	closed     bool // no other properties
	additional *node

	unique bool
	items  *node

	pattern *regexp.Regexp
	numbers []numberRule

	not                 *node
	allOf, anyOf, oneOf []*node
}

// sizeRule limits the number of elements, members or characters.
type sizeRule struct {
	word string
	of   string // type of the values that it limits
	most bool
	want int
}

// sizeWords maps keywords to the limits that they set.
var sizeWords = map[string]sizeRule{
	"minLength": {of: "string"}, "maxLength": {of: "string", most: true},
	"minItems": {of: "array"}, "maxItems": {of: "array", most: true},
	"minProperties": {of: "object"}, "maxProperties": {of: "object", most: true},
}

// numberRule is a condition on a number.
type numberRule struct {
	word string
	want *big.Rat
	text json.Number // want as text
}

// met reports whether a number satisfies the rule.
func (r numberRule) met(n *big.Rat) bool {
	switch r.word {
	case "minimum":
		return n.Cmp(r.want) >= 0
	case "maximum":
		return n.Cmp(r.want) <= 0
	case "exclusiveMinimum":
		return n.Cmp(r.want) > 0
	case "exclusiveMaximum":
		return n.Cmp(r.want) < 0
	}
	return new(big.Rat).Quo(n, r.want).IsInt() // multipleOf
}

// inPlace lists the schemas that apply to the same value as n.
func (n *node) inPlace() []*node {
	var list []*node
	for _, below := range []*node{n.ref, n.not} {
		if below != nil {
			list = append(list, below)
		}
	}
	list = append(list, n.allOf...)
	list = append(list, n.anyOf...)
	return append(list, n.oneOf...)
}

// maxInPlace is the maximum length of a chain of nested schemas that apply to one value.
const maxInPlace = 100

// height returns the length of the longest such chain that starts at n. A cycle has a height of more than maxInPlace.
func (n *node) height(known map[*node]int) int {
	if h, ok := known[n]; ok {
		return h
	}
	known[n] = maxInPlace + 1 // until it is known, so that a cycle counts as too long
	height := 0
	for _, below := range n.inPlace() {
		height = max(height, below.height(known))
	}
	known[n] = min(height, maxInPlace) + 1
	return known[n]
}
