package jsontext

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Object is a JSON object whose members were found in one pass. Rules ask for
// a dozen paths of each line: looking each of them up from the start would
// read a long line a dozen times.
type Object struct {
	root   gjson.Result
	names  []string
	values []string // as they are in the JSON text
}

// Open reads the members of another object, in the memory of the last one.
func (o *Object) Open(root gjson.Result) {
	o.root, o.names, o.values = root, o.names[:0], o.values[:0]
	for name, value := range Members(root.Raw) {
		o.names, o.values = append(o.names, Unquote(name)), append(o.values, value)
	}
}

// Path is a gjson path, taken apart as far as it is names of members.
type Path struct {
	Whole string
	steps []step
	rest  string // what is left to gjson after the steps
}

type step struct {
	name string
	path string // from this step on
}

func ParsePath(path string) Path {
	p := Path{Whole: path, rest: path}
	for p.rest != "" {
		name, rest := p.rest, ""
		i := strings.IndexAny(name, ".|")
		if i >= 0 {
			name, rest = name[:i], name[i+1:]
		}
		if name == "" || i >= 0 && rest == "" || strings.ContainsAny(name, `@#*?!\{[(`) {
			break
		}
		p.steps, p.rest = append(p.steps, step{name, p.rest}), rest
	}
	return p
}

// Get is gjson's Get on the object; of two members with one name the first
// counts.
func (o *Object) Get(path *Path) gjson.Result {
	if len(path.steps) == 0 {
		return o.root.Get(path.Whole)
	}
	for i, name := range o.names {
		if name == path.steps[0].name {
			return path.follow(o.values[i], 1)
		}
	}
	return gjson.Result{}
}

// At is get on the object, or on an element of an array in it.
func (o *Object) At(path *Path, element string, onElement bool) gjson.Result {
	if onElement {
		return path.follow(element, 0)
	}
	return o.Get(path)
}

// follow goes on from a value, which took some steps to reach. What is no
// object is left to gjson.
func (p *Path) follow(value string, taken int) gjson.Result {
	for _, step := range p.steps[taken:] {
		if value == "" || value[0] != '{' {
			return gjson.Get(value, step.path)
		}
		value = member(value, step.name)
	}
	if p.rest != "" && value != "" {
		return gjson.Get(value, p.rest)
	}
	return result(value)
}

func member(object, name string) string {
	for quoted, value := range Members(object) {
		if Unquote(quoted) == name {
			return value
		}
	}
	return ""
}

// result is gjson's Parse, which is slow at long strings.
func result(value string) gjson.Result {
	if value != "" && value[0] == '"' {
		return gjson.Result{Type: gjson.String, Raw: value, Str: Unquote(value)}
	}
	return gjson.Parse(value)
}

// Owned is a value that does not share the memory of the line: what an event
// keeps. Only the JSON text of a string still does: a setter that wants it
// must copy it.
func Owned(value gjson.Result) gjson.Result {
	switch {
	case value.Type != gjson.String:
		value.Raw = strings.Clone(value.Raw)
	case len(value.Str)+2 >= len(value.Raw): // nothing to unescape, nothing copied
		value.Str = strings.Clone(value.Str)
	}
	return value
}
