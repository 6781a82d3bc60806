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

// Call is a request translated into the fields and modes of one spec.
type Call struct {
	Access    call.Access
	Output    clispec.OutputMode
	Transport clispec.Transport
	Fields    Fields
	Env       map[string]string // part of the host's environment that the CLI sees
	Own       map[string]string // environment variables of the request
	Read      []string          // files that a confined CLI may read, in the form of clispec.ConfineRules.Read
	Write     []string          // files that a confined CLI may change, in the form of clispec.PassRule.Write
	Version   string            // of the program, "" if unknown
	Warnings  []string          // about servers of the user that the call cannot turn off

	assumed    string // selects the rows; "" selects those of the newest version
	anyVersion bool   // ignore the version when selecting rows
}

// newCall resolves everything that depends on the spec: model, session, system text, output mode and transport. It
// returns an error if the spec does not support a part of the request.
func (o *Composer) newCall(req call.Request, choice Choice, h Host) (*Call, *call.Error) {
	spec := o.spec
	c := &Call{Access: req.Access, Fields: fieldsOf(req), Own: req.Env, Version: h.Version}
	c.assumed = cmp.Or(h.Version, semver.Find(spec.CheckedWith))
	if err := h.allowedEnv(req.Env); err != nil {
		return nil, err
	}
	model, ok := o.Models.Resolve(req.Model)
	if !ok {
		return nil, call.Errorf(call.ReasonModelMismatch, "model", "%q is not a model of this backend",
			cmp.Or(req.Model, spec.UseModel))
	}
	if !c.Fields.has("effort") {
		c.Fields.Set("effort", spec.UseEffort)
	}
	c.Env, c.Read, c.Write = h.passed(spec, model)
	c.Fields.Set("model", model)
	c.Fields.Set("dir", h.RealDir)
	if h.TrustDir && req.Access > call.AccessNone || req.Access == call.AccessFull {
		c.Fields.Set("trust_dir", "1")
	}
	h.setTools(c, spec)
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
	return c, cmp.Or(c.unsupported(spec), c.checkCommas(spec))
}

// avoidLongArgument sends a prompt that is too long for an argument on stdin, unless the choice names a transport.
func (c *Call) avoidLongArgument(spec *clispec.Spec, choice Choice) {
	long := c.Transport == clispec.TransportArgv && len(c.Fields["prompt"][0]) > MaxArg
	if long && choice.Transport == "" && slices.Contains(spec.TransportModes(), clispec.TransportStdin) {
		c.Transport = clispec.TransportStdin
	}
}

// setSession parses the session handle. It returns an error for a session that this CLI cannot resume or cannot find.
func (c *Call) setSession(spec *clispec.Spec, req call.Request, h Host) *call.Error {
	if req.Options.Continue {
		c.Fields.Set("continue", "1")
	}
	if id := req.Options.SessionID; id != "" && !session.Takes(spec.Sessions, id) {
		return call.Errorf(call.ReasonUnsupported, "session_id", "%q is not a valid session id of %s", id, spec.Name)
	}
	c.Fields.Set("session_id", req.Options.SessionID)
	if req.Session == "" {
		return nil
	}
	s, ok := session.Parse(req.Session)
	theirs := strings.Contains(req.Session, ":") // not created by a call without access
	bound, made := spec.Sessions.DirBound, session.Dir(call.Request{}, h.Known)
	switch {
	case !ok:
		return call.Errorf(call.ReasonBadSession, "session",
			"%q is not a session: use the Session of a Response", req.Session)
	case s.Backend != spec.Name:
		return call.Errorf(call.ReasonUnsupported, "session", "%q belongs to %s", req.Session, s.Backend)
	case !session.Takes(spec.Sessions, s.ID):
		return call.Errorf(call.ReasonBadSession, "session",
			"%q is not a valid session id of %s: use the Session of a Response", s.ID, spec.Name)
	case bound && h.Known == nil && req.Dir == "" && (theirs || req.Access > call.AccessNone):
		return advised(call.Errorf(call.ReasonBadSession, "session",
			"%s finds a session only in its directory, which is not recorded for this user",
			spec.Name),
			call.Advice{Action: call.ActionSet, Field: "dir"})
	case bound && made != "" && h.Dir != "" && filepath.Clean(h.Dir) != filepath.Clean(made):
		how := call.Advice{Action: call.ActionUnset, Field: "dir"}
		if req.Access == call.AccessNone {
			how = raiseAccess
		}
		return advised(call.Errorf(call.ReasonBadSession, "session",
			"the session started in %q and cannot continue in %q", made, h.Dir), how)
	}
	c.Fields.Set("session", s.ID)
	return nil
}

// choose sets the output mode and the transport. It prefers those of the choice to the first ones that the spec lists.
func (c *Call) choose(spec *clispec.Spec, choice Choice) *call.Error {
	outputs, transports := spec.OutputModes(), spec.TransportModes()
	if choice.Output == clispec.OutputLive {
		c.Output, c.Transport = choice.Output, clispec.TransportStdin
		if !spec.Live.Has() || !c.holds(spec.Live.When) {
			return call.Errorf(call.ReasonUnsupported, "live",
				"this CLI has no live mode for this request with access %s", c.Access)
		}
		return nil
	}
	c.Output, c.Transport = cmp.Or(choice.Output, outputs[0]), cmp.Or(choice.Transport, transports[0])
	if !slices.Contains(outputs, c.Output) {
		return call.Errorf(call.ReasonUnsupported, "output", "%q is not one of %q", c.Output, outputs)
	}
	if !slices.Contains(transports, c.Transport) {
		return call.Errorf(call.ReasonUnsupported, "transport", "%q is not one of %q", c.Transport, transports)
	}
	return nil
}

// Resumes reports whether a call like this one can resume a session.
func (o *Composer) Resumes(c *Call) bool {
	with := *c
	with.Fields = maps.Clone(c.Fields)
	with.Fields.Set("session", "any")
	return with.uses(o.spec, "session")
}

// uses reports whether a row that applies contains the field, or depends on it.
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

// contains reports whether a template names the field. It parses only the few templates that contain the name as text,
// because parsing is slower.
func contains(template, field string) bool {
	return strings.Contains(template, field) && slices.Contains(grammar.TemplateFields(template), field)
}

// inBrackets matches the argument in a permission rule for a tool, such as "(git log a,b)" in "Bash(git log a,b)". A
// comma in the argument does not separate tools.
var inBrackets = pattern.Of(`\([^)]*\)`)

// checkCommas returns an error for a list element with a comma if a row joins that list by commas: the CLI would read
// the element as two.
func (c *Call) checkCommas(spec *clispec.Spec) *call.Error {
	for _, field := range []string{"allowed_tools", "disallowed_tools", "add_dirs", "images"} {
		for _, value := range c.Fields[field] {
			plain := value
			if strings.HasSuffix(field, "_tools") {
				plain = inBrackets().ReplaceAllString(value, "")
			}
			if strings.Contains(plain, ",") && c.joins(spec, field) {
				return call.Errorf(call.ReasonUnsupported, field,
					"%q has a comma, so this CLI would read it as two values: use a name without a comma", value)
			}
		}
	}
	return nil
}

// joins reports whether a row that applies joins the list by commas.
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

// anyRow reports whether any row that applies passes the test.
func (c *Call) anyRow(spec *clispec.Spec, test func(row clispec.Row) bool) bool {
	for row := range spec.Rows() {
		if c.holds(row.When) && test(row) {
			return true
		}
	}
	return false
}

// holds reports whether the call meets the condition.
func (c *Call) holds(w clispec.When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.Fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.Fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.Access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.Output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.Transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees)) &&
		(w.Since == "" && w.Before == "" || c.inRange(w))
}

// sees reports whether the variable is set for the CLI, in the sense of grammar.IsSet.
func (c *Call) sees(name string) bool { return grammar.IsSet(c.Env, name) }

// matches reports whether each field has a value that matches its pattern.
func (c *Call) matches(patterns map[string]string) bool {
	for field, pattern := range patterns {
		if !slices.ContainsFunc(c.Fields[field], plaintext.Whole(pattern).MatchString) {
			return false
		}
	}
	return true
}

// preflight returns an error for a call that the CLI is known to refuse, so that it need not start.
func (c *Call) preflight(spec *clispec.Spec, root bool) *call.Error {
	for _, rule := range spec.Preflight {
		if c.holds(rule.When) && c.matches(rule.Match) && (root || !rule.Root) &&
			!slices.ContainsFunc(rule.UnlessEnv, c.sees) {
			return &call.Error{Reason: rule.Reason, Message: rule.Message, Hint: rule.Hint, ExitCode: -1}
		}
	}
	return nil
}
