package jsontext

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Object is a JSON object whose members were found in one pass, and those of an object inside it in one more at the first
// need. The rules look up a dozen paths in each line: searching for each from the start would read a long line a dozen
// times. The zero value is empty; it is not safe for concurrent use.
type Object struct {
	root    gjson.Result
	members []entry // those of each object that was read are in a row
	own     span    // of the object itself
}

type entry struct {
	name, value string // the value as it is in the JSON text
	inner       span   // its own members, once they were read
}

// span is where the members of an object are in Object.members.
type span struct{ from, to int }

// Open reads the members of another object and reuses the memory of the last.
func (o *Object) Open(root gjson.Result) {
	o.root, o.members = root, o.members[:0]
	o.own = o.read(root.Raw)
}

func (o *Object) read(object string) span {
	from := len(o.members)
	for name, value := range members(object) {
		o.members = append(o.members, entry{name: unquote(name), value: value})
	}
	return span{from, len(o.members)}
}

// find returns the index of the first member of that name, or -1.
func (o *Object) find(in span, name string) int {
	for i := in.from; i < in.to; i++ {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// inside returns where the members of an object that is a member are.
func (o *Object) inside(member int) span {
	if o.members[member].inner == (span{}) {
		inner := o.read(o.members[member].value) // which may move members
		o.members[member].inner = inner
	}
	return o.members[member].inner
}

// Path is a gjson path whose leading member names are split off, because those are looked up without gjson.
type Path struct {
	Whole string // the path as written
	steps []step
	rest  string // evaluated by gjson after the steps
}

type step struct {
	name string
	path string // from this step on
}

// ParsePath splits a gjson path. It accepts every path: what is not the name of a member stays with gjson.
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

// Get returns the value at a path, as gjson's Get does. Of two members with the same name the first counts.
func (o *Object) Get(path *Path) gjson.Result {
	if len(path.steps) == 0 {
		return o.root.Get(path.Whole)
	}
	in := o.own
	for taken := 1; ; taken++ {
		member := o.find(in, path.steps[taken-1].name)
		if member < 0 {
			return gjson.Result{}
		}
		if value := o.members[member].value; taken == len(path.steps) || value[0] != '{' {
			return path.follow(value, taken)
		}
		in = o.inside(member)
	}
}

// At returns the value at a path in element, an element of an array, if onElement is set, and in the object otherwise.
func (o *Object) At(path *Path, element string, onElement bool) gjson.Result {
	if onElement {
		return path.follow(element, 0)
	}
	return o.Get(path)
}

// follow evaluates the path from a value that the first steps, taken of them,
// led to. Within anything but an object gjson takes over.
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

// All returns the values at a path in a valid JSON text. There are several where a name is there twice in one object:
// programs differ in which one counts.
func (p *Path) All(text string) []gjson.Result { return p.all(strings.TrimSpace(text), 0) }

func (p *Path) all(value string, taken int) (values []gjson.Result) {
	switch {
	case taken == len(p.steps) && p.rest == "":
		return []gjson.Result{result(value)}
	case taken == len(p.steps):
		return []gjson.Result{gjson.Get(value, p.rest)}
	case !strings.HasPrefix(value, "{"):
		return []gjson.Result{gjson.Get(value, p.steps[taken].path)}
	}
	for quoted, inner := range members(value) {
		if unquote(quoted) == p.steps[taken].name {
			values = append(values, p.all(inner, taken+1)...)
		}
	}
	return values
}

func member(object, name string) string {
	for quoted, value := range members(object) {
		if unquote(quoted) == name {
			return value
		}
	}
	return ""
}

// result does what gjson's Parse does, which is slow for long strings.
func result(value string) gjson.Result {
	switch {
	case value == "":
		return gjson.Result{}
	case value[0] == '"':
		return gjson.Result{Type: gjson.String, Raw: value, Str: unquote(value)}
	}
	return gjson.Parse(value)
}

// Owned returns a copy of a value that does not share the memory of the line, so that an event can keep it. Only Raw of
// a string still shares it: who keeps that must copy it.
func Owned(value gjson.Result) gjson.Result {
	switch {
	case value.Type != gjson.String:
		value.Raw = strings.Clone(value.Raw)
	case len(value.Str)+2 >= len(value.Raw): // without escapes Unquote does not copy
		value.Str = strings.Clone(value.Str)
	}
	return value
}
