package compose

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/semver"
	"github.com/clichain/clichain/internal/session"
)

// Call is a request in the terms of one spec.
type Call struct {
	Access    call.Access
	Output    clispec.OutputMode
	Transport clispec.Transport
	Fields    Fields
	Env       map[string]string // what the CLI sees of the host's environment
	Own       map[string]string // variables of the request
	Version   string            // of the program, "" where it is not known

	assumed    string // the version by which rows apply, "" for the newest
	anyVersion bool   // they apply whatever it is
}

// newCall resolves what depends on the spec: model, session, system text,
// output mode and transport. It refuses what the spec cannot honour.
func (o *Composer) newCall(req call.Request, choice Choice, h Host) (*Call, *call.Error) {
	spec := o.spec
	c := &Call{Access: req.Access, Fields: fieldsOf(req), Own: req.Env, Version: h.Version}
	c.assumed = cmp.Or(h.Version, semver.Find(spec.CheckedWith))
	if err := h.allowedEnv(req.Env); err != nil {
		return nil, err
	}
	model, ok := o.Models.Resolve(req.Model)
	if !ok {
		return nil, call.Errorf(call.ReasonModelMismatch, "model", "%q is no model of this backend", req.Model)
	}
	c.Env = h.Passed(spec, model)
	c.Fields.Set("model", model)
	c.Fields.Set("dir", h.RealDir)
	if h.TrustDir && req.Access > call.AccessNone || req.Access == call.AccessFull {
		c.Fields.Set("trust_dir", "1")
	}
	if h.Asks {
		c.Fields.Set("ask", "1")
	}
	if h.Conversation {
		c.Fields.Set("conversation", "1")
	}
	c.Fields.Set("traceparent", h.Trace)
	c.Fields.Set("tracestate", h.TraceState)
	if err := c.setSession(spec, req, h); err != nil {
		return nil, err
	}
	c.Fields.Set("extra", req.Options.Extra[spec.Name]...)
	if err := c.choose(spec, choice); err != nil {
		return nil, err
	}
	if err := c.setTexts(spec, req); err != nil {
		return nil, err
	}
	guards := o.guards
	if c.Output == clispec.OutputLive && o.live != nil {
		guards = o.live
	}
	for _, g := range guards {
		if prompt := c.Fields["prompt"][0]; g.re.MatchString(prompt) {
			c.Fields.Set("prompt", g.Prefix+prompt)
		}
	}
	c.avoidLongArgument(spec, choice)
	if h.Agent {
		c.presetAgent(spec)
	}
	return c, cmp.Or(c.unsupported(spec), c.split(spec))
}

// avoidLongArgument lets a prompt that is too long for an argument travel on stdin, where the choice leaves that open.
func (c *Call) avoidLongArgument(spec *clispec.Spec, choice Choice) {
	long := c.Transport == clispec.TransportArgv && len(c.Fields["prompt"][0]) > MaxArg
	if long && choice.Transport == "" && slices.Contains(spec.TransportModes(), clispec.TransportStdin) {
		c.Transport = clispec.TransportStdin
	}
}

// setSession takes the handle apart and refuses a session that this CLI cannot
// resume, or would not find.
func (c *Call) setSession(spec *clispec.Spec, req call.Request, h Host) *call.Error {
	if req.Options.Continue {
		c.Fields.Set("continue", "1")
	}
	if id := req.Options.SessionID; id != "" && !session.Takes(spec.Sessions, id) {
		return call.Errorf(call.ReasonUnsupported, "session_id", "%q is no id of a session of %s", id, spec.Name)
	}
	c.Fields.Set("session_id", req.Options.SessionID)
	if req.Session == "" {
		return nil
	}
	s, ok := session.Parse(req.Session)
	theirs := strings.Contains(req.Session, ":") // not made by a call without access
	bound, made := spec.Sessions.DirBound, session.Dir(call.Request{}, h.Known)
	switch {
	case !ok:
		return call.Errorf(call.ReasonBadSession, "session", "%q is no session: use the Session of a Response", req.Session)
	case s.Backend != spec.Name:
		return call.Errorf(call.ReasonUnsupported, "session", "%q belongs to %s", req.Session, s.Backend)
	case !session.Takes(spec.Sessions, s.ID):
		return call.Errorf(call.ReasonBadSession, "session",
			"%q is no id of a session of %s: use the Session of a Response", s.ID, spec.Name)
	case bound && h.Known == nil && req.Dir == "" && (theirs || req.Access > call.AccessNone):
		return advised(call.Errorf(call.ReasonBadSession, "session",
			"%s finds a session only where it was made, and this user has no record of where that was", spec.Name),
			call.Advice{Action: call.ActionSet, Field: "dir"})
	case bound && made != "" && h.Dir != "" && filepath.Clean(h.Dir) != filepath.Clean(made):
		how := call.Advice{Action: call.ActionUnset, Field: "dir"}
		if req.Access == call.AccessNone {
			how = raiseAccess
		}
		return advised(call.Errorf(call.ReasonBadSession, "session",
			"it was made in %q, and cannot be continued in %q", made, h.Dir), how)
	}
	c.Fields.Set("session", s.ID)
	return nil
}

// choose sets the output mode and the transport: those of the choice if the
// spec has them, else the spec's best.
func (c *Call) choose(spec *clispec.Spec, choice Choice) *call.Error {
	outputs, transports := spec.OutputModes(), spec.TransportModes()
	if choice.Output == clispec.OutputLive {
		c.Output, c.Transport = choice.Output, clispec.TransportStdin
		if !spec.Live.Has() || !c.holds(spec.Live.When) {
			return call.Errorf(call.ReasonUnsupported, "live",
				"this CLI has no live mode for such a request, with access %s", c.Access)
		}
		return nil
	}
	c.Output, c.Transport = cmp.Or(choice.Output, outputs[0]), cmp.Or(choice.Transport, transports[0])
	if !slices.Contains(outputs, c.Output) {
		return call.Errorf(call.ReasonUnsupported, "output", "%q is none of %q", c.Output, outputs)
	}
	if !slices.Contains(transports, c.Transport) {
		return call.Errorf(call.ReasonUnsupported, "transport", "%q is none of %q", c.Transport, transports)
	}
	return nil
}

// Resumes reports whether a call like this one can go on from a session.
func (o *Composer) Resumes(c *Call) bool {
	with := *c
	with.Fields = maps.Clone(c.Fields)
	with.Fields.Set("session", "any")
	return with.uses(o.spec, "session")
}

// uses reports whether a row that applies tests the field or contains it.
func (c *Call) uses(spec *clispec.Spec, field string) bool {
	return c.anyRow(spec, func(row clispec.Row) bool { return rowUses(row, field) }) ||
		c.Output == clispec.OutputLive && slices.ContainsFunc(c.messages(&spec.Live), func(m clispec.LiveMessage) bool {
			return slices.Contains(m.When.Set, field) || contains(m.Params, field)
		})
}

func rowUses(row clispec.Row, field string) bool {
	return slices.Contains(row.When.Set, field) || slices.ContainsFunc(row.Templates, func(template string) bool {
		return contains(template, field)
	})
}

// contains reports whether a template names the field. To take it apart costs more, and few of them do.
func contains(template, field string) bool {
	return strings.Contains(template, field) && slices.Contains(grammar.TemplateFields(template), field)
}

// inBrackets is what a rule for a tool says about its use: "Bash(git log a,b)".
// A comma there separates no tools.
var inBrackets = pattern.Of(`\([^)]*\)`)

// split refuses a value that would become two, because a row joins its list by
// commas and it has one itself.
func (c *Call) split(spec *clispec.Spec) *call.Error {
	for _, field := range []string{"allowed_tools", "disallowed_tools", "add_dirs", "images"} {
		for _, value := range c.Fields[field] {
			plain := value
			if strings.HasSuffix(field, "_tools") {
				plain = inBrackets().ReplaceAllString(value, "")
			}
			if strings.Contains(plain, ",") && c.joins(spec, field) {
				return call.Errorf(call.ReasonUnsupported, field,
					"%q has a comma, which would make it two values here: use a name without one", value)
			}
		}
	}
	return nil
}

// joins reports whether a row that applies has the list joined by commas.
func (c *Call) joins(spec *clispec.Spec, field string) bool {
	joined := func(m string) bool {
		name, form := grammar.ParsePlaceholder(m)
		return name == field && form != "list"
	}
	return c.anyRow(spec, func(row clispec.Row) bool {
		return row.Each != field && slices.ContainsFunc(row.Templates, func(template string) bool {
			return slices.ContainsFunc(grammar.Placeholder().FindAllString(template, -1), joined)
		})
	})
}

// anyRow reports whether a row that applies passes the test.
func (c *Call) anyRow(spec *clispec.Spec, test func(row clispec.Row) bool) bool {
	for row := range spec.Rows() {
		if c.holds(row.When) && test(row) {
			return true
		}
	}
	return false
}

// holds reports whether the condition is met.
func (c *Call) holds(w clispec.When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.Fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.Fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.Access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.Output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.Transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees)) &&
		(w.Since == "" && w.Before == "" || c.inRange(w))
}

// sees reports whether the CLI will see a variable that is on (grammar.IsSet).
func (c *Call) sees(name string) bool { return grammar.IsSet(c.Env, name) }

// matches reports whether each field has a value of its pattern.
func (c *Call) matches(patterns map[string]string) bool {
	for field, pattern := range patterns {
		if !slices.ContainsFunc(c.Fields[field], plaintext.Whole(pattern).MatchString) {
			return false
		}
	}
	return true
}

// preflight refuses a call that the CLI itself would refuse, without starting
// it.
func (c *Call) preflight(spec *clispec.Spec, root bool) *call.Error {
	for _, rule := range spec.Preflight {
		if c.holds(rule.When) && c.matches(rule.Match) && (root || !rule.Root) &&
			!slices.ContainsFunc(rule.UnlessEnv, c.sees) {
			return &call.Error{Reason: rule.Reason, Message: rule.Message, Hint: rule.Hint, ExitCode: -1}
		}
	}
	return nil
}
