package clichain

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// elementPrefix begins a path that starts at an element of EventRule.Each.
const elementPrefix = "@."

// program is a spec's event rules, compiled once.
type program struct {
	byType map[string][]*rule // the rules that a value with this "type" can meet
	others []*rule            // those for any other type
}

type rule struct {
	EventRule
	each     jsonPath
	matchers []matcher
	setters  []setter
}

// matcher is one entry of EventRule.Match.
type matcher struct {
	path    jsonPath
	element bool
	literal string         // compared when re is nil
	re      *regexp.Regexp // anchored
}

type setter struct {
	apply   func(*Event, gjson.Result)
	origins []origin // alternatives
}

// origin is where a setter's value comes from.
type origin struct {
	literal gjson.Result // when it exists
	path    jsonPath
	element bool // the path starts at the element
}

// compileProgram needs rules that passed Validate.
func compileProgram(rules []EventRule) *program {
	p := &program{byType: map[string][]*rule{}}
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

func compileRule(r EventRule) *rule {
	c := &rule{EventRule: r, each: parsePath(r.Each)}
	for _, path := range slices.Sorted(maps.Keys(r.Match)) {
		rest, element := strings.CutPrefix(path, elementPrefix)
		m := matcher{path: parsePath(rest), element: element}
		re := regexp.MustCompile(r.Match[path])
		if literal, whole := re.LiteralPrefix(); whole {
			m.literal = literal
		} else {
			m.re = regexp.MustCompile(`^(?s:` + r.Match[path] + `)$`)
		}
		c.matchers = append(c.matchers, m)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Set)) {
		c.setters = append(c.setters, setter{eventSetters[field], origins(r.Set[field])})
	}
	return c
}

func alternatives(value string) []string { return strings.Split(value, " ?? ") }

// typeLiteral is the one "type" of the values a rule can match.
func (r *rule) typeLiteral() (string, bool) {
	for _, m := range r.matchers {
		if m.path.whole == "type" && !m.element && m.re == nil {
			return m.literal, true
		}
	}
	return "", false
}

var typePath = parsePath("type")

// events makes the events of one JSON object; o is memory to work in.
func (p *program) events(o *object, root gjson.Result) []Event {
	o.open(root)
	rules, ok := p.byType[o.get(typePath).String()]
	if !ok {
		rules = p.others
	}
	var out []Event
	for _, r := range rules {
		before := len(out)
		out = r.appendEvents(out, o)
		if r.Last && len(out) > before {
			break
		}
	}
	return out
}

func (r *rule) appendEvents(out []Event, o *object) []Event {
	if !r.matches(o, gjson.Result{}, false) {
		return out
	}
	if r.Each == "" {
		return append(out, r.event(o, gjson.Result{}))
	}
	for _, element := range o.get(r.each).Array() {
		if r.matches(o, element, true) {
			out = append(out, r.event(o, element))
		}
	}
	return out
}

// matches checks the conditions on the object, or those on the element.
func (r *rule) matches(o *object, element gjson.Result, onElement bool) bool {
	for _, m := range r.matchers {
		if m.element != onElement {
			continue
		}
		if onElement && !m.accepts(element.Get(m.path.whole)) || !onElement && !m.accepts(o.get(m.path)) {
			return false
		}
	}
	return true
}

func (m *matcher) accepts(value gjson.Result) bool {
	if m.re == nil {
		return value.String() == m.literal
	}
	return m.re.MatchString(value.String())
}

func (r *rule) event(o *object, element gjson.Result) Event {
	e := Event{Kind: r.Kind, terminal: r.Terminal}
	for _, s := range r.setters {
		for _, from := range s.origins {
			if value := from.value(o, element); value.Exists() && value.Type != gjson.Null {
				s.apply(&e, value)
				break
			}
		}
	}
	return e
}

func (s *origin) value(o *object, element gjson.Result) gjson.Result {
	switch {
	case s.literal.Exists():
		return s.literal
	case s.element:
		return element.Get(s.path.whole)
	}
	return o.get(s.path)
}

// origins takes the value of EventRule.Set apart.
func origins(value string) (list []origin) {
	for _, alternative := range alternatives(value) {
		if literal, ok := strings.CutPrefix(alternative, "="); ok {
			list = append(list, origin{literal: gjson.Result{Type: gjson.String, Str: literal, Raw: quoteJSON(literal)}})
			continue
		}
		path, element := strings.CutPrefix(alternative, elementPrefix)
		list = append(list, origin{path: parsePath(path), element: element})
	}
	return list
}
