package decode

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
)

// Item is an event as the CLI's output has it, with what only the judgement of
// the run needs to know.
type Item struct {
	call.Event
	Terminal bool // the CLI has no more to say
	Whole    bool // a block of thinking, which may have come in pieces before
	Partial  bool // a result that was cut short: the text so far is the answer
}

// Program is a spec's event rules, compiled once.
type Program struct {
	byType map[string][]*rule // the rules that a value with this "type" can meet
	others []*rule            // those for any other type
}

type rule struct {
	clispec.EventRule
	each     jsontext.Path
	matchers []matcher
	setters  []setter
}

// matcher is one entry of EventRule.Match.
type matcher struct {
	path    jsontext.Path
	element bool
	pattern string
	accepts func(text string) bool
}

type setter struct {
	apply   func(*Item, gjson.Result)
	origins []origin // alternatives
}

// origin is where a setter's value comes from.
type origin struct {
	literal gjson.Result // when it exists
	path    jsontext.Path
	element bool // the path starts at the element
}

// Compile needs rules that passed Validate.
func Compile(rules []clispec.EventRule) *Program {
	p := &Program{byType: map[string][]*rule{}}
	compiled := make([]*rule, len(rules))
	for i, r := range rules {
		compiled[i] = compileRule(r)
		if t, ok := compiled[i].typeLiteral(); ok {
			p.byType[t] = nil
		}
	}
	for _, r := range compiled {
		t, ok := r.typeLiteral()
		for known := range p.byType {
			if !ok || t == known {
				p.byType[known] = append(p.byType[known], r)
			}
		}
		if !ok {
			p.others = append(p.others, r)
		}
	}
	return p
}

func compileRule(r clispec.EventRule) *rule {
	c := &rule{EventRule: r, each: jsontext.ParsePath(r.Each)}
	for _, path := range slices.Sorted(maps.Keys(r.Match)) {
		rest, element := strings.CutPrefix(path, grammar.ElementPrefix)
		m := matcher{jsontext.ParsePath(rest), element, r.Match[path], plaintext.Matcher(r.Match[path])}
		c.matchers = append(c.matchers, m)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Set)) {
		c.setters = append(c.setters, setter{setters[field], origins(r.Set[field])})
	}
	return c
}

// typeLiteral is the one "type" of the values a rule can match.
func (r *rule) typeLiteral() (string, bool) {
	for _, m := range r.matchers {
		if m.path.Whole == "type" && !m.element {
			return plaintext.Literal(m.pattern)
		}
	}
	return "", false
}

var typePath = jsontext.ParsePath("type")

// Scratch is memory to make events in, reused from object to object. The zero
// value works.
type Scratch struct {
	object jsontext.Object
	items  []Item // made of the object
}

// Events makes the events of one JSON object. The slice is valid until the
// scratch is used again; the events share no memory with root.
func (p *Program) Events(s *Scratch, root gjson.Result) []Item {
	clear(s.items) // otherwise they would keep their texts from being freed
	s.items = s.items[:0]
	s.object.Open(root)
	rules, ok := p.byType[s.object.Get(&typePath).String()]
	if !ok {
		rules = p.others
	}
	for _, r := range rules {
		before := len(s.items)
		r.appendEvents(s)
		if r.Last && len(s.items) > before {
			break
		}
	}
	return s.items
}

func (r *rule) appendEvents(s *Scratch) {
	if !r.matches(&s.object, "", false) {
		return
	}
	if r.Each == "" {
		r.appendEvent(s, "")
		return
	}
	list := s.object.Get(&r.each)
	for element := range jsontext.Elements(list.Raw) {
		r.appendEvent(s, element)
	}
	if !list.IsArray() && list.Type != gjson.Null { // the one element itself
		r.appendEvent(s, list.Raw)
	}
}

// matches checks the conditions on the object, or those on the element.
func (r *rule) matches(o *jsontext.Object, element string, onElement bool) bool {
	for i := range r.matchers {
		m := &r.matchers[i]
		if m.element == onElement && !m.accepts(o.At(&m.path, element, onElement).String()) {
			return false
		}
	}
	return true
}

// appendEvent makes the event of an element that meets the conditions. It is
// made in place: setters take a pointer, so a variable would be garbage.
func (r *rule) appendEvent(s *Scratch, element string) {
	if !r.matches(&s.object, element, true) {
		return
	}
	s.items = append(s.items, Item{Event: call.Event{Kind: r.Kind}, Terminal: r.Terminal})
	e := &s.items[len(s.items)-1]
	for _, setter := range r.setters {
		for i := range setter.origins {
			if value := setter.origins[i].value(&s.object, element); value.Exists() && value.Type != gjson.Null {
				setter.apply(e, jsontext.Owned(value))
				break
			}
		}
	}
}

func (s *origin) value(o *jsontext.Object, element string) gjson.Result {
	if s.literal.Exists() {
		return s.literal
	}
	return o.At(&s.path, element, s.element)
}

// origins takes the value of EventRule.Set apart.
func origins(value string) (list []origin) {
	for _, alternative := range grammar.Alternatives(value) {
		if literal, ok := strings.CutPrefix(alternative, "="); ok {
			list = append(list, origin{literal: gjson.Result{Type: gjson.String, Str: literal, Raw: jsontext.Quote(literal)}})
			continue
		}
		path, element := strings.CutPrefix(alternative, grammar.ElementPrefix)
		list = append(list, origin{path: jsontext.ParsePath(path), element: element})
	}
	return list
}
