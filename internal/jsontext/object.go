package jsontext

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Object is a JSON object with an index of its members, and of the members of objects nested in it up to a limited
// depth. It is built during validation. Rules look up a dozen paths in each line, and searching for each path from the
// start would read a long line a dozen times. The zero value is empty. Object is not safe for concurrent use.
type Object struct {
	root    gjson.Result
	members []member
	first   int // index of its first member
}

// member is one member of an object. The members of an object form a linked list.
type member struct {
	name, value string // value is the JSON text
	inner       int    // index of the first member of the value if it is an object
	next        int    // index of the next member of the same object
}

const (
	none   = -1 // no such member
	unread = -2 // the members of the value are not indexed
)

// Open indexes the members of a new object. It reuses the memory of the previous one.
func (o *Object) Open(root gjson.Result) {
	o.root, o.members = root, o.members[:0]
	o.first = o.read(root.Raw)
}

func (o *Object) read(object string) (first int) {
	list := o.list()
	for name, value := range members(object) {
		list.add(member{name: unquote(name), value: value, inner: unread})
	}
	return list.first
}

// list collects the members of one object.
type list struct {
	object      *Object
	first, last int
}

func (o *Object) list() list { return list{o, none, none} }

// add adds a member and returns its index.
func (l *list) add(m member) int {
	i, all := len(l.object.members), l.object
	m.next = none
	all.members = append(all.members, m)
	if l.first == none {
		l.first = i
	} else {
		all.members[l.last].next = i
	}
	l.last = i
	return i
}

// find returns the index of the first member with the name in the list at i, or none.
func (o *Object) find(i int, name string) int {
	for ; i != none; i = o.members[i].next {
		if o.members[i].name == name {
			return i
		}
	}
	return none
}

// inside returns the index of the first member of the object that is the value of member i.
func (o *Object) inside(i int) int {
	if o.members[i].inner == unread {
		inner := o.read(o.members[i].value) // read may move members
		o.members[i].inner = inner
	}
	return o.members[i].inner
}

// Path is a gjson path whose leading member names are separate, because Object looks them up without gjson.
type Path struct {
	Whole string // the path as written
	steps []step
	rest  string // evaluated by gjson after the steps
}

type step struct {
	name string
	path string // path from this step onward
}

// ParsePath splits a gjson path. It accepts every path: gjson evaluates the part that is not a member name.
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

// Get returns the value at a path, like gjson's Get. Of two members with the same name it uses the first.
func (o *Object) Get(path *Path) gjson.Result {
	if len(path.steps) == 0 {
		return o.root.Get(path.Whole)
	}
	value, taken := o.lookup(path)
	if taken == 0 {
		return gjson.Result{}
	}
	return path.follow(value, taken)
}

// lookup follows a path through objects. It returns the value that it reaches and the number of steps taken, 0 if there
// is no such member.
func (o *Object) lookup(path *Path) (value string, taken int) {
	in := o.first
	for taken = 1; ; taken++ {
		member := o.find(in, path.steps[taken-1].name)
		if member == none {
			return "", 0
		}
		if value = o.members[member].value; taken == len(path.steps) || value[0] != '{' {
			return value, taken
		}
		in = o.inside(member)
	}
}

// Text returns the text of the value at a path. Unlike At, it builds no Result for a string: most values are only
// compared.
func (o *Object) Text(path *Path, element string, onElement bool) string {
	if onElement || len(path.steps) == 0 || path.rest != "" {
		return o.At(path, element, onElement).String()
	}
	value, taken := o.lookup(path)
	switch {
	case taken == 0:
		return ""
	case taken == len(path.steps) && value[0] == '"':
		return unquote(value)
	}
	return path.follow(value, taken).String()
}

// At returns the value at a path: in element, an element of an array, if onElement is set, else in the object.
func (o *Object) At(path *Path, element string, onElement bool) gjson.Result {
	if onElement {
		return path.follow(element, 0)
	}
	return o.Get(path)
}

// follow evaluates the rest of the path from a value that the first taken steps have reached. gjson evaluates the path
// inside any value that is not an object.
func (p *Path) follow(value string, taken int) gjson.Result {
	for _, step := range p.steps[taken:] {
		if value == "" || value[0] != '{' {
			return gjson.Get(value, step.path)
		}
		value = memberOf(value, step.name)
	}
	if p.rest != "" && value != "" {
		return gjson.Get(value, p.rest)
	}
	return result(value)
}

// All returns the values at a path in a valid JSON text. A name that appears twice in one object gives several values,
// because programs differ in which one they use.
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

func memberOf(object, name string) string {
	for quoted, value := range members(object) {
		if unquote(quoted) == name {
			return value
		}
	}
	return ""
}

// result is gjson's Parse, which is slow for long strings.
func result(value string) gjson.Result {
	switch {
	case value == "":
		return gjson.Result{}
	case value[0] == '"':
		return gjson.Result{Type: gjson.String, Raw: value, Str: unquote(value)}
	}
	return gjson.Parse(value)
}

// Owned returns a copy of a value that does not share the memory of the line, so that an event can keep it. Only the
// Raw field of a string still shares that memory; copy it to keep it.
func Owned(value gjson.Result) gjson.Result {
	switch {
	case value.Type != gjson.String:
		value.Raw = strings.Clone(value.Raw)
	case len(value.Str)+2 >= len(value.Raw): // a string without escapes shares the memory of the line
		value.Str = strings.Clone(value.Str)
	}
	return value
}
