package structured

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"math/big"
	"slices"
	"strconv"
)

// rational returns the exact value of a JSON number.
func rational(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

// typeOrder is the order in which findings list types.
var typeOrder = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// typeOf returns the type of a value. Integers have the type number.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// equal reports whether two JSON values are equal. The numbers 1, 1.0 and 1e0 are equal.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || rational(a).Cmp(rational(b)) == 0)
	}
	return a == b
}

// same returns the indexes of two equal elements of an array.
func same(array []any) (i, j int, ok bool) {
	var h maphash.Hash
	seen := map[uint64][]int{}
	for j, value := range array {
		h.Reset()
		hash(&h, value)
		sum := h.Sum64()
		for _, i := range seen[sum] {
			if equal(array[i], value) {
				return i, j, true
			}
		}
		seen[sum] = append(seen[sum], j)
	}
	return 0, 0, false
}

// hash adds a value to h. Equal values have equal hashes.
func hash(h *maphash.Hash, value any) {
	h.WriteString(typeOf(value))
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			h.WriteString(name)
			hash(h, value[name])
		}
	case []any:
		for _, element := range value {
			hash(h, element)
		}
	case json.Number:
		n := rational(value)
		h.Write(n.Num().Bytes())
		h.Write(n.Denom().Bytes())
	case string:
		h.WriteString(value)
	case bool:
		h.WriteString(strconv.FormatBool(value))
	}
}
