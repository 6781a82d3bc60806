// Package decode converts the JSON objects that a CLI prints into events, by the event rules of its spec. It names no
// CLI, does no I/O, and does not judge whether a run succeeded.
package decode

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/tidwall/gjson"
)

// Item is an event of the CLI's output, with additional data for the judge of the run.
type Item struct {
	call.Event
	Terminal bool // last event of the run
	Whole    bool // complete block of thinking, whose pieces may have come before
	Partial  bool // incomplete result: the answer is the text so far
	// EventID is a hash of the event's id, which is unique within the run. It differs between processes. 0 means no id.
	EventID uint64
}

// Program is the compiled event rules of a spec. It is immutable and safe for concurrent use.
type Program struct {
	byType map[string][]*rule // rules for values with this "type"
	others []*rule            // rules for values with any other type
}

type rule struct {
	clispec.EventRule
	each     jsontext.Path
	members  bool // each selects the members of an object
	windows  bool // the elements are usage windows of one event
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
	origins []origin // alternatives, in order
}

// Compile compiles rules that passed Validate. It panics on an invalid pattern.
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
			continue
		}
		r.matchers = slices.DeleteFunc(r.matchers, matcher.ofType) // byType already checks it
	}
	return p
}

func compileRule(r clispec.EventRule) *rule {
	each, members := strings.CutSuffix(r.Each, grammar.MembersSuffix)
	c := &rule{EventRule: r, each: jsontext.ParsePath(each), members: members, windows: r.Set["window"] != ""}
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

// typeLiteral returns the only "type" that a matching value can have. ok is false if the rule matches several.
func (r *rule) typeLiteral() (string, bool) {
	if i := slices.IndexFunc(r.matchers, matcher.ofType); i >= 0 {
		return plaintext.Literal(r.matchers[i].pattern)
	}
	return "", false
}

func (m matcher) ofType() bool { return m.path.Whole == "type" && !m.element }

var typePath = jsontext.ParsePath("type")

// Scratch is memory for events that each object reuses. The zero value is ready to use. Scratch is not safe for
// concurrent use.
type Scratch struct {
	object jsontext.Object
	items  []Item // events of the current object
}

// Events returns the events of one JSON object. The slice is valid until the next use of the scratch. The events share
// no memory with root.
func (p *Program) Events(s *Scratch, root gjson.Result) []Item {
	s.object.Open(root)
	return p.events(s)
}

// Line returns the events of a line, like Events. ok is false unless the whole line is one JSON object. The slice is
// valid until the line changes or the scratch is used again.
func (p *Program) Line(s *Scratch, line []byte) (items []Item, ok bool) {
	if !s.object.Parse(line) {
		return nil, false
	}
	return p.events(s), true
}

func (p *Program) events(s *Scratch) []Item {
	clear(s.items) // releases their texts
	s.items = s.items[:0]
	rules, ok := p.byType[s.object.Text(&typePath, "", false)]
	if !ok {
		rules = p.others
	}
	for _, r := range rules {
		before := len(s.items)
		r.appendEvents(s)
		if r.windows {
			s.joinWindows(before)
		}
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
	if r.members {
		for member := range jsontext.Members(list.Raw) {
			r.appendEvent(s, member)
		}
		return
	}
	for element := range jsontext.Elements(list.Raw) {
		r.appendEvent(s, element)
	}
	if !list.IsArray() && list.Type != gjson.Null { // a single element in place of a list
		r.appendEvent(s, list.Raw)
	}
}

// matches checks the conditions on the object or, if onElement is set, those on the element.
func (r *rule) matches(o *jsontext.Object, element string, onElement bool) bool {
	for i := range r.matchers {
		m := &r.matchers[i]
		if m.element == onElement && !m.accepts(o.Text(&m.path, element, onElement)) {
			return false
		}
	}
	return true
}

// appendEvent appends the event of an element that meets the conditions. It builds the event in the slice: setters take
// a pointer, so a local variable would be allocated each time.
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

// setters maps the fields that EventRule.Set can fill to functions that fill them. Numbers may be JSON numbers or text.
var setters = map[string]func(*Item, gjson.Result){
	"text":       func(e *Item, v gjson.Result) { e.Text = v.String() },
	"event_id":   func(e *Item, v gjson.Result) { e.EventID = hashed(v.String()) },
	"id":         func(e *Item, v gjson.Result) { e.ID = v.String() },
	"name":       func(e *Item, v gjson.Result) { e.Name = v.String() },
	"input":      func(e *Item, v gjson.Result) { e.Input = json.RawMessage(v.Raw) },
	"session":    func(e *Item, v gjson.Result) { e.Session = v.String() },
	"model":      func(e *Item, v gjson.Result) { e.Model = v.String() },
	"key_source": func(e *Item, v gjson.Result) { e.KeySource = v.String() },
	"trigger":    func(e *Item, v gjson.Result) { e.Trigger = v.String() },
	"pre_tokens": func(e *Item, v gjson.Result) { e.PreTokens = v.Int() },
	"code":       func(e *Item, v gjson.Result) { e.Code = v.String() },
	"message":    func(e *Item, v gjson.Result) { e.Message = v.String() },
	"status":     func(e *Item, v gjson.Result) { e.Status = int(v.Int()) },
	"try":        func(e *Item, v gjson.Result) { e.Try = int(v.Int()) },
	"delay_ms":   func(e *Item, v gjson.Result) { e.Delay = scaled(v, time.Millisecond) },
	"delay_s":    func(e *Item, v gjson.Result) { e.Delay = scaled(v, time.Second) },
	"reset_at":   func(e *Item, v gjson.Result) { e.RetryAfter = resettime.Epoch(v.Float()) },
	"failed":     func(e *Item, v gjson.Result) { e.Failed = v.Bool() || v.String() == "error" },
	"whole":      func(e *Item, v gjson.Result) { e.Whole = v.Bool() },
	"partial":    func(e *Item, v gjson.Result) { e.Partial = v.Bool() },

	"window":              func(e *Item, v gjson.Result) { window(e).Name = v.String() },
	"window_used":         func(e *Item, v gjson.Result) { window(e).Used = share(v, 1) },
	"window_used_percent": func(e *Item, v gjson.Result) { window(e).Used = share(v, 100) },
	"window_minutes":      func(e *Item, v gjson.Result) { window(e).Length = scaled(v, time.Minute) },
	"window_reset":        func(e *Item, v gjson.Result) { window(e).ResetsAt = written(v) },
	"window_reset_s":      func(e *Item, v gjson.Result) { window(e).ResetsAt = resettime.Epoch(v.Float()) },
	"window_observed":     func(e *Item, v gjson.Result) { window(e).ObservedAt = written(v) },

	"input_tokens":       func(e *Item, v gjson.Result) { e.Usage.InputTokens = v.Int() },
	"output_tokens":      func(e *Item, v gjson.Result) { e.Usage.OutputTokens = v.Int() },
	"cache_read_tokens":  func(e *Item, v gjson.Result) { e.Usage.CacheReadTokens = v.Int() },
	"cache_write_tokens": func(e *Item, v gjson.Result) { e.Usage.CacheWriteTokens = v.Int() },
	"reasoning_tokens":   func(e *Item, v gjson.Result) { e.Usage.ReasoningTokens = v.Int() },
	"turns":              func(e *Item, v gjson.Result) { e.Usage.Turns = v.Int() },
	"cost_usd":           func(e *Item, v gjson.Result) { e.Usage.CostUSD = finite(v) },
}

// finite returns nil, which means unknown, for a value that is not a finite number.
func finite(v gjson.Result) *float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(v.String()), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// scaled converts a number of units to a duration. The result is 0 if the duration is out of range.
func scaled(v gjson.Result, unit time.Duration) time.Duration {
	d := v.Float() * float64(unit)
	if !(d > 0 && d < math.MaxInt64) {
		return 0
	}
	return time.Duration(d)
}
