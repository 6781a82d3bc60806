package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/clichain/clichain"
)

// checkUnknown returns an error if an unknown field looks like a misspelled field, or if no line can set it. All
// other unknown fields are metadata of the caller.
func checkUnknown(name string) error {
	for known := range fields {
		if nearly(name, known) {
			return fmt.Errorf("%s: there is no such field: did you mean %s? known fields are %s",
				name, known, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
	}
	switch {
	case slices.Contains(namesOf[clichain.Options](), name):
		return fmt.Errorf(`%s: is an option: write it as {"options": {%[1]q: ...}}`, name)
	case slices.Contains(namesOf[clichain.Request](), name):
		return fmt.Errorf("%s: a line cannot set it: remove or rename it", name)
	}
	return nil
}

// namesOf returns the JSON names of the fields of a struct.
func namesOf[T any]() (names []string) {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// nearly reports whether two names are equal apart from case, punctuation and one letter.
func nearly(a, b string) bool {
	marks := strings.NewReplacer("_", "", "-", "", " ", "")
	a, b = marks.Replace(strings.ToLower(a)), marks.Replace(strings.ToLower(b))
	if a == b || min(len(a), len(b)) < 4 {
		return a == b
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b)) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// keep stores a value that is not part of the request. The value becomes metadata of the response.
func (e *entry) keep(name string, value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		var plain bytes.Buffer
		_ = json.Compact(&plain, value) // the value is valid JSON
		text = plain.String()
	}
	if e.extra == nil {
		e.extra = map[string]string{}
	}
	e.extra[name] = text
}

// withExtra returns the metadata of a line with its unknown fields. Explicit metadata takes precedence.
func (e *entry) withExtra(metadata map[string]string) map[string]string {
	if len(e.extra) == 0 {
		return metadata
	}
	all := maps.Clone(e.extra)
	maps.Copy(all, metadata)
	return all
}
