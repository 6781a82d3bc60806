package clispec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
)

// live checks the rules of the live mode.
func (v *validator) live(r *LiveRules) {
	lists := r.lists()
	if !r.Has() {
		for _, l := range lists {
			if len(l.messages) > 0 {
				v.add("live.envelope", "", fmt.Sprintf("is empty: say how the messages of live.%s are written", l.name))
			}
		}
		return
	}
	v.when("live.when", r.When)
	oneOf(v, "live.envelope", r.Envelope, EnvelopeJSONRPC, EnvelopeControl)
	for _, l := range lists {
		each("live."+l.name, l.messages, v.liveMessage)
		v.madeBefore(r, l)
	}
	if len(r.Turn) == 0 {
		v.add("live.turn", "", "is empty: give the message that sends the prompt")
	}
	if len(r.Open) == 0 && len(r.Clear) == 0 {
		v.add("live.open", "", "is empty, and so is live.clear: one of them must start a new context")
	}
	if len(r.Open) > 0 && r.Context == "" {
		v.add("live.context", "", "is empty: say where the response to live.open has the id of the context")
	}
	v.resume(r)
	if r.Of == "" && len(r.Barrier) == 0 {
		v.add("live.of", "", "is empty, and so is live.barrier: one of them must be set, "+
			"so that no caller gets an answer to another")
	}
	for i, m := range r.Barrier {
		if m.Notice {
			v.add(fmt.Sprintf("live.barrier[%d].notice", i), "true", "is invalid: only a response proves anything")
		}
	}
	for i, m := range r.Usage {
		if m.Notice {
			v.add(fmt.Sprintf("live.usage[%d].notice", i), "true", "is invalid: only a response has the usage windows")
		}
	}
	ends := func(m LiveMessage) bool { return m.Ends }
	terminal := func(e EventRule) bool { return e.Terminal }
	if !slices.ContainsFunc(r.Events, terminal) && (len(r.Events) > 0 || slices.ContainsFunc(r.Turn, ends)) {
		v.add("live.events", "", "no rule is terminal, so a turn could never succeed")
	}
	if r.Calls < 0 {
		v.add("live.calls", fmt.Sprint(r.Calls), "is negative: use 0 for the default")
	}
	if r.GrowthMB < 0 {
		v.add("live.growth_mb", fmt.Sprint(r.GrowthMB), "is negative: use 0 for the default")
	}
	allOf(v, "live.cumulative", r.Cumulative, Counters...)
	each("live.events", r.Events, v.eventRule)
	each("live.asks", r.Asks, v.ask)
	each("live.guards", r.Guards, v.guard)
}

// resume checks the messages that resume a session.
func (v *validator) resume(r *LiveRules) {
	if len(r.Resume) > 0 && len(r.Open) == 0 {
		v.add("live.resume", "", "replaces live.open, which is empty")
	}
	for i, m := range r.Resume {
		path := fmt.Sprintf("live.resume[%d].", i)
		if !slices.Contains(grammar.TemplateFields(m.Params), "session") {
			v.add(path+"params", m.Params, "does not contain {session}, the session to resume")
		}
		if m.Notice {
			v.add(path+"notice", "true", "is invalid: only a response shows that the session was resumed")
		}
	}
}

// liveList is a list of messages and its name in a spec.
type liveList struct {
	name     string
	messages []LiveMessage
}

func (r *LiveRules) lists() []liveList {
	return []liveList{
		{"ready", r.Ready}, {"open", r.Open}, {"resume", r.Resume}, {"opened", r.Opened}, {"turn", r.Turn},
		{"interrupt", r.Interrupt}, {"clear", r.Clear}, {"close", r.Close}, {"barrier", r.Barrier},
		{"usage", r.Usage},
	}
}

// madeBefore reports an id in a message that no other rule provides.
func (v *validator) madeBefore(r *LiveRules, l liveList) {
	for i, m := range l.messages {
		path := fmt.Sprintf("live.%s[%d].params", l.name, i)
		fields := grammar.TemplateFields(m.Params)
		if slices.Contains(fields, "context") && len(r.Open) == 0 {
			v.add(path, "context", "is the id from live.open, which is empty")
		}
		if slices.Contains(fields, "turn") && r.TurnID == "" {
			v.add(path, "turn", "is the id at live.turn_id, which is empty")
		}
	}
}

func (v *validator) liveMessage(path string, m LiveMessage) {
	if m.Method == "" {
		v.add(path+".method", "", "is missing: name the message")
	}
	if m.Notice && m.Ends {
		v.add(path+".ends", "true", "is invalid: a notice has no response")
	}
	v.jsonTemplate(path+".params", m.Params, append(slices.Clone(Fields), LiveFields...))
	v.when(path+".when", m.When)
}

func (v *validator) ask(path string, a AskRule) {
	if a.Method == "" {
		v.add(path+".method", "", "is missing: name the request")
	}
	if a.Deny == "" {
		v.add(path+".deny", "", "is missing: the CLI waits for an answer to every request")
	}
	v.jsonTemplate(path+".allow", a.Allow, AskFields)
	v.jsonTemplate(path+".deny", a.Deny, AskFields)
	v.jsonTemplate(path+".otherwise", a.Otherwise, AskFields)
	v.pattern(path+".allow_kind", a.AllowKind)
	v.pattern(path+".deny_kind", a.DenyKind)
	if a.Options != "" && (a.OptionID == "" || a.OptionKind == "") {
		v.add(path+".option_id", a.OptionID,
			"must be set, as must option_kind, because options is set")
	}
}

// jsonTemplate checks, as far as possible, that a template becomes valid JSON for all values of its fields.
func (v *validator) jsonTemplate(path, template string, fields []string) {
	if template == "" {
		return
	}
	v.text(path, template)
	for _, name := range grammar.TemplateFields(template) {
		if !slices.Contains(fields, name) && !v.files[name] {
			v.add(path, name, "is not a valid field; "+meant(name, fields))
		}
	}
	filled := grammar.Placeholder().ReplaceAllStringFunc(template, func(m string) string {
		switch name, form := grammar.ParsePlaceholder(m); {
		case form == "text":
			return "x"
		case form == "list":
			return `["x"]`
		case form == "" && slices.Contains(jsonFields, name):
			return `{"x":1}`
		case form == "json":
			return `"x"`
		default: // a text without quotes may become anything
			return `"`
		}
	})
	if !json.Valid([]byte(filled)) || !strings.HasPrefix(strings.TrimSpace(filled), "{") {
		v.add(path, template,
			"is not a JSON object after its fields are filled in: write a text as {field:json}, or as {field:text} in quotes")
	}
}

// jsonFields are JSON values or numbers, so they need no quotes.
var jsonFields = []string{"schema", "agents", "mcp_config", "mcp_local", "max_turns", "max_budget_usd", "input"}
