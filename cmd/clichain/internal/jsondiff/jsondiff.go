// Package jsondiff compares two values by their JSON forms.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Difference is one place in which two JSON values differ. Path is in the new value, or in the old value for a removed
// element. Old is missing for an added element, New for a removed element.
type Difference struct {
	Path string          `json:"path"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
}

// String returns the difference on one line: "+" for an addition, "-" for a removal, "~" for a change.
func (d Difference) String() string {
	old, now := terminal.OneLine(string(d.Old)), terminal.OneLine(string(d.New))
	switch {
	case d.Old == nil:
		return fmt.Sprintf("+ %s: %s", d.Path, now)
	case d.New == nil:
		return fmt.Sprintf("- %s: %s", d.Path, old)
	}
	return fmt.Sprintf("~ %s: %s → %s", d.Path, old, now)
}

// Compare returns the differences between the JSON forms of two values. In a list it finds the added, removed and
// changed elements. It returns an error for a value that has no JSON form.
func Compare(before, after any) ([]Difference, error) {
	var d differ
	from, err := generic(before)
	if err != nil {
		return nil, err
	}
	to, err := generic(after)
	if err != nil {
		return nil, err
	}
	d.value("", from, to)
	return d.found, nil
}

// generic returns the JSON form of a value as maps and lists.
func generic(value any) (out any, err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&out)
	return out, err
}

type differ struct{ found []Difference }

func (d *differ) value(path string, before, after any) {
	old, isMap := before.(map[string]any)
	now, stillMap := after.(map[string]any)
	oldList, isList := before.([]any)
	nowList, stillList := after.([]any)
	switch {
	case isMap && stillMap:
		d.object(path, old, now)
	case isList && stillList:
		d.list(path, oldList, nowList)
	case !reflect.DeepEqual(before, after):
		d.add(path, raw(before), raw(after))
	}
}

func (d *differ) add(path string, before, after json.RawMessage) {
	d.found = append(d.found, Difference{path, before, after})
}

// raw encodes a decoded value.
func raw(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // it cannot fail for a decoded value
	return bytes.TrimSpace(out.Bytes())
}

func (d *differ) object(path string, before, after map[string]any) {
	keys := map[string]bool{}
	for _, side := range []map[string]any{before, after} {
		for key := range side {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		old, was := before[key]
		now, is := after[key]
		switch at := member(path, key); {
		case !is:
			d.add(at, raw(old), nil)
		case !was:
			d.add(at, nil, raw(now))
		default:
			d.value(at, old, now)
		}
	}
}

// member returns the path of a member, in the form of the spec errors.
func member(path, key string) string {
	if _, err := strconv.Atoi(key); err == nil {
		return fmt.Sprintf("%s[%s]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// list finds the longest common subsequence of two lists, and compares the elements between its parts one by one.
func (d *differ) list(path string, before, after []any) {
	i, j := 0, 0
	for _, pair := range append(common(before, after), [2]int{len(before), len(after)}) {
		for ; i < pair[0] && j < pair[1]; i, j = i+1, j+1 {
			d.value(fmt.Sprintf("%s[%d]", path, j), before[i], after[j])
		}
		for ; i < pair[0]; i++ {
			d.add(fmt.Sprintf("%s[%d]", path, i), raw(before[i]), nil)
		}
		for ; j < pair[1]; j++ {
			d.add(fmt.Sprintf("%s[%d]", path, j), nil, raw(after[j]))
		}
		i, j = pair[0]+1, pair[1]+1
	}
}

// common returns the indexes of a longest common subsequence.
func common(before, after []any) (pairs [][2]int) {
	longest := make([][]int, len(before)+1) // length of the longest common subsequence from i and j
	for i := range longest {
		longest[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if reflect.DeepEqual(before[i], after[j]) {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(before) && j < len(after); {
		switch {
		case reflect.DeepEqual(before[i], after[j]):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
