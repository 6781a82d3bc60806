package dialect

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
)

// object is a JSON object that satisfies the conditions of a rule.
type object struct{ root, element any }

// match sets the values that the conditions of a rule require, and omits optional ones. ok is false if it cannot find
// such values.
func (o *object) match(conditions map[string]string) (ok bool) {
	for _, path := range slices.Sorted(maps.Keys(conditions)) {
		text, ok := Sample(conditions[path])
		if ok = ok && (text == "" || o.put(path, typed(text))); !ok {
			return false
		}
	}
	return true
}

// plainPath converts the steps of a path to a plain path. The last element of a list becomes its first.
var plainPath = strings.NewReplacer("|@reverse|", ".", "|", ".")

// put sets the value at a path.
func (o *object) put(path string, value any) (ok bool) {
	at := &o.root
	if rest, inElement := strings.CutPrefix(path, grammar.ElementPrefix); inElement {
		at, path = &o.element, rest
	}
	if path = plainPath.Replace(path); strings.ContainsAny(path, `@#*?!\{[(`) {
		return false
	}
	*at, ok = with(*at, strings.Split(path, "."), value)
	return ok
}

// with returns node with another value at the end of the steps. ok is false if a step needs an object or a list and
// node has another type of value there.
func with(node any, steps []string, value any) (_ any, ok bool) {
	if len(steps) == 0 {
		switch node.(type) {
		case map[string]any, []any:
			return node, false
		}
		return value, true
	}
	list, isList := node.([]any)
	if i, err := strconv.Atoi(steps[0]); err == nil && (node == nil || isList) && i >= 0 && i < 100 {
		list = append(list, make([]any, max(0, i+1-len(list)))...)
		list[i], ok = with(list[i], steps[1:], value)
		return list, ok
	}
	members, isObject := node.(map[string]any)
	if node != nil && !isObject {
		return node, false
	}
	if members == nil {
		members = map[string]any{}
	}
	members[steps[0]], ok = with(members[steps[0]], steps[1:], value)
	return members, ok
}

// line returns the object as one line, with the element in a list at the path each.
func (o *object) line(each string) (line string, ok bool) {
	if each != "" && !o.put(each, []any{o.element}) {
		return "", false
	}
	if o.root == nil {
		return "", false
	}
	return encode(o.root), true
}

// encode writes JSON like most programs, without unnecessary escapes.
func encode(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // strings, numbers and booleans cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// typed returns the JSON value with this text.
func typed(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// write returns a line that matches the rule and from which the rule sets the fields to the values. It omits a field
// that the rule does not set from the line.
func write(rule clispec.EventRule, values map[string]any) (line string, ok bool) {
	var o object
	if !o.match(rule.Match) {
		return "", false
	}
	for _, field := range slices.Sorted(maps.Keys(values)) {
		if origin, sets := rule.Set[field]; sets {
			o.putField(origin, values[field])
		}
	}
	return o.line(rule.Each)
}

// putField sets the first settable alternative from which a rule reads a field.
func (o *object) putField(origin string, value any) {
	for _, alternative := range grammar.Alternatives(origin) {
		if strings.HasPrefix(alternative, "=") || o.put(alternative, value) {
			return
		}
	}
}
