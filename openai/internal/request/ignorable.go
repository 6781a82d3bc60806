package request

import (
	"encoding/json"
	"maps"
	"slices"
)

// Ignorable returns the fields that [Ignored] can have.
func Ignorable() []string {
	names := map[string]bool{}
	for _, list := range []fields{chatFields, responsesFields} {
		for name, f := range list {
			if f.ignorable {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// IgnoredInChat returns the ignorable fields of a chat completion that do not have their neutral value.
func IgnoredInChat(body []byte) (names []string, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(body, &values); err != nil {
		return nil, err
	}
	for name, value := range values {
		if f := chatFields[name]; f.ignorable && !f.neutralAt(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
