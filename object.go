package clichain

import (
	"strings"

	"github.com/tidwall/gjson"
)

// object is a JSON object whose members were found in one pass. Rules ask for
// a dozen paths of each line: looking each of them up from the start would
// read a long line a dozen times.
type object struct {
	root   gjson.Result
	names  []string
	values []gjson.Result
}

// open reads the members of another object, in the memory of the last one.
func (o *object) open(root gjson.Result) {
	o.root, o.names, o.values = root, o.names[:0], o.values[:0]
	root.ForEach(func(name, value gjson.Result) bool {
		o.names, o.values = append(o.names, name.Str), append(o.values, value)
		return true
	})
}

// jsonPath is a gjson path, taken apart at its first step.
type jsonPath struct {
	whole string
	first string // the name of a member; "" when the path begins otherwise
	rest  string // from there on
}

func parsePath(path string) jsonPath {
	first, rest := path, ""
	if i := strings.IndexAny(path, ".|"); i >= 0 {
		first, rest = path[:i], path[i+1:]
	}
	if strings.ContainsAny(first, `@#*?!\{[(`) {
		first = ""
	}
	return jsonPath{path, first, rest}
}

// get is gjson's Get; of two members with one name the first counts.
func (o *object) get(path jsonPath) gjson.Result {
	if path.first == "" {
		return o.root.Get(path.whole)
	}
	for i, name := range o.names {
		if name != path.first {
			continue
		}
		if path.rest == "" {
			return o.values[i]
		}
		return o.values[i].Get(path.rest)
	}
	return gjson.Result{}
}
