package structured

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// finding is one mistake in a value. It is formatted only if it is reported.
type finding struct {
	place []string
	say   string
	args  []any
}

func (f finding) line() string {
	at := ""
	for _, step := range f.place {
		at += "/" + pointerStep.Replace(step)
	}
	return plaintext.OneLine(atPlace(at) + ": " + fmt.Sprintf(f.say, f.args...))
}

// quote puts a text into single quotes.
func quote(text string) string {
	text = strconv.Quote(text)
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(text, `'`, `\'`) + "'"
}

// quoted is a text that a finding quotes.
type quoted string

// String returns the text in single quotes.
func (q quoted) String() string { return quote(string(q)) }

// names are names of properties.
type names []string

// String returns the names in single quotes.
func (n names) String() string {
	list := make([]string, len(n))
	for i, name := range n {
		list[i] = quote(name)
	}
	return strings.Join(list, ", ")
}

// allowed are the values of const or enum.
type allowed struct {
	values  []any
	keyword string
}

// String says what a value has to be.
func (a allowed) String() string {
	list := make([]string, len(a.values))
	for i, value := range a.values {
		switch value := value.(type) {
		case map[string]any, []any:
			return "'" + a.keyword + "' failed"
		case string:
			list[i] = quote(value)
		case nil:
			list[i] = "null"
		default:
			list[i] = fmt.Sprint(value)
		}
	}
	if len(list) == 1 {
		return "value must be " + list[0]
	}
	return "value must be one of " + strings.Join(list, ", ")
}

// equal reports whether two JSON values are the same; 1, 1.0 and 1e0 are.
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

// same finds two equal elements of an array.
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

// hash hashes equal values equally.
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
