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
	rules  []*rule
	byType map[string][]*rule // the rules that a value with this "type" can meet
	others []*rule            // those for any other type
}

type rule struct {
	EventRule
	matchers []matcher
	setters  []setter
}

// matcher is one entry of EventRule.Match.
type matcher struct {
	path    string
	element bool
	literal string         // compared when re is nil
	re      *regexp.Regexp // anchored
}

type setter struct {
	apply func(*Event, gjson.Result)
	paths []string // alternatives
}

// compileProgram needs rules that passed Validate.
func compileProgram(rules []EventRule) *program {
	p := &program{byType: map[string][]*rule{}}
	for _, r := range rules {
		p.rules = append(p.rules, compileRule(r))
	}
	for _, r := range p.rules {
		if t, ok := r.typeLiteral(); ok {
			p.byType[t] = nil
		}
	}
	for _, r := range p.rules {
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
	c := &rule{EventRule: r}
	for _, path := range slices.Sorted(maps.Keys(r.Match)) {
		rest, element := strings.CutPrefix(path, elementPrefix)
		m := matcher{path: rest, element: element}
		re := regexp.MustCompile(r.Match[path])
		if literal, whole := re.LiteralPrefix(); whole {
			m.literal = literal
		} else {
			m.re = regexp.MustCompile(`^(?s:` + r.Match[path] + `)$`)
		}
		c.matchers = append(c.matchers, m)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Set)) {
		c.setters = append(c.setters, setter{eventSetters[field], alternatives(r.Set[field])})
	}
	return c
}

func alternatives(value string) []string { return strings.Split(value, " ?? ") }

// typeLiteral is the one "type" of the values a rule can match.
func (r *rule) typeLiteral() (string, bool) {
	for _, m := range r.matchers {
		if m.path == "type" && !m.element && m.re == nil {
			return m.literal, true
		}
	}
	return "", false
}

// events makes the events of one JSON object.
func (p *program) events(root gjson.Result) []Event {
	rules, ok := p.byType[root.Get("type").String()]
	if !ok {
		rules = p.others
	}
	var out []Event
	for _, r := range rules {
		before := len(out)
		out = r.appendEvents(out, root)
		if r.Last && len(out) > before {
			break
		}
	}
	return out
}

func (r *rule) appendEvents(out []Event, root gjson.Result) []Event {
	if !r.matches(root, gjson.Result{}, false) {
		return out
	}
	if r.Each == "" {
		return append(out, r.event(root, gjson.Result{}))
	}
	for _, element := range root.Get(r.Each).Array() {
		if r.matches(root, element, true) {
			out = append(out, r.event(root, element))
		}
	}
	return out
}

// matches checks the conditions on the root, or those on the element.
func (r *rule) matches(root, element gjson.Result, onElement bool) bool {
	for _, m := range r.matchers {
		if m.element != onElement {
			continue
		}
		from := root
		if onElement {
			from = element
		}
		value := from.Get(m.path).String()
		if m.re == nil && value != m.literal || m.re != nil && !m.re.MatchString(value) {
			return false
		}
	}
	return true
}

func (r *rule) event(root, element gjson.Result) Event {
	e := Event{Kind: r.Kind, terminal: r.Terminal}
	for _, s := range r.setters {
		for _, path := range s.paths {
			if value := lookup(root, element, path); value.Exists() && value.Type != gjson.Null {
				s.apply(&e, value)
				break
			}
		}
	}
	return e
}

func lookup(root, element gjson.Result, path string) gjson.Result {
	if literal, ok := strings.CutPrefix(path, "="); ok {
		return gjson.Result{Type: gjson.String, Str: literal, Raw: quoteJSON(literal)}
	}
	if rest, ok := strings.CutPrefix(path, elementPrefix); ok {
		return element.Get(rest)
	}
	return root.Get(path)
}
