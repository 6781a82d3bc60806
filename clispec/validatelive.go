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
		v.add("live.turn", "", "is empty: say with which message the CLI is asked")
	}
	if len(r.Open) == 0 && len(r.Clear) == 0 {
		v.add("live.open", "", "is empty, and live.clear too: say how a new context begins")
	}
	if len(r.Open) > 0 && r.Context == "" {
		v.add("live.context", "", "is empty: say where the response to live.open has the id of the context")
	}
	v.resume(r)
	if r.Of == "" && len(r.Barrier) == 0 {
		v.add("live.of", "", "is empty, and live.barrier too: say where a line names its context, "+
			"or which request proves that all earlier lines are printed; else one caller may get an answer to another")
	}
	for i, m := range r.Barrier {
		if m.Notice {
			v.add(fmt.Sprintf("live.barrier[%d].notice", i), "true", "cannot be: only a response proves anything")
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
		v.add("live.resume", "", "is sent in place of live.open, and that is empty")
	}
	for i, m := range r.Resume {
		path := fmt.Sprintf("live.resume[%d].", i)
		if !slices.Contains(grammar.TemplateFields(m.Params), "session") {
			v.add(path+"params", m.Params, "does not name {session}: say which session the CLI is to resume")
		}
		if m.Notice {
			v.add(path+"notice", "true", "cannot be: only a response shows that the session was resumed")
		}
	}
}

// liveList is a list of messages, by its name in a spec.
type liveList struct {
	name     string
	messages []LiveMessage
}

func (r *LiveRules) lists() []liveList {
	return []liveList{
		{"ready", r.Ready}, {"open", r.Open}, {"resume", r.Resume}, {"opened", r.Opened}, {"turn", r.Turn},
		{"interrupt", r.Interrupt}, {"clear", r.Clear}, {"close", r.Close}, {"barrier", r.Barrier},
	}
}

// madeBefore refuses the name of an id that nothing makes.
func (v *validator) madeBefore(r *LiveRules, l liveList) {
	for i, m := range l.messages {
		path := fmt.Sprintf("live.%s[%d].params", l.name, i)
		fields := grammar.TemplateFields(m.Params)
		if slices.Contains(fields, "context") && len(r.Open) == 0 {
			v.add(path, "context", "is the id of what live.open begins, and that is empty")
		}
		if slices.Contains(fields, "turn") && r.TurnID == "" {
			v.add(path, "turn", "is the id at live.turn_id, and that is empty")
		}
	}
}

func (v *validator) liveMessage(path string, m LiveMessage) {
	if m.Method == "" {
		v.add(path+".method", "", "is missing: name the message")
	}
	if m.Notice && m.Ends {
		v.add(path+".ends", "true", "cannot be: a notice has no response")
	}
	v.jsonTemplate(path+".params", m.Params, append(slices.Clone(Fields), LiveFields...))
	v.when(path+".when", m.When)
}

func (v *validator) ask(path string, a AskRule) {
	if a.Method == "" {
		v.add(path+".method", "", "is missing: name the request")
	}
	if a.Deny == "" {
		v.add(path+".deny", "", "is missing: a request that stays without an answer keeps the CLI waiting")
	}
	v.jsonTemplate(path+".allow", a.Allow, AskFields)
	v.jsonTemplate(path+".deny", a.Deny, AskFields)
	v.jsonTemplate(path+".otherwise", a.Otherwise, AskFields)
	v.pattern(path+".allow_kind", a.AllowKind)
	v.pattern(path+".deny_kind", a.DenyKind)
	if a.Options != "" && (a.OptionID == "" || a.OptionKind == "") {
		v.add(path+".option_id", a.OptionID,
			"needs option_kind as well: they say what an option is called, and what it means")
	}
}

// jsonTemplate checks that a template becomes JSON, whatever its fields hold, as far
// as that shows.
func (v *validator) jsonTemplate(path, template string, fields []string) {
	if template == "" {
		return
	}
	v.text(path, template)
	for _, name := range grammar.TemplateFields(template) {
		if !slices.Contains(fields, name) && !v.files[name] {
			v.add(path, name, "is no field here; "+meant(name, fields))
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
		default: // a text that is not quoted may become anything
			return `"`
		}
	})
	if !json.Valid([]byte(filled)) || !strings.HasPrefix(strings.TrimSpace(filled), "{") {
		v.add(path, template,
			"is no JSON object once its fields are filled in: a text is {field:json}, or {field:text} between quotes")
	}
}

// jsonFields hold JSON, or a number, and so need no quotes.
var jsonFields = []string{"schema", "agents", "mcp_config", "mcp_local", "max_turns", "max_budget_usd", "input"}
