package compose

import (
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/plaintext"
)

// unsupported refuses a request with a field that no applying row uses: the
// caller would not learn that the option had no effect.
func (c *Call) unsupported(spec *clispec.Spec) *call.Error {
	used := func(field string) bool { return c.Fields.has(field) && c.uses(spec, field) }
	for _, name := range clispec.OptionFields {
		if c.Fields.has(name) && !used(name) && !slices.ContainsFunc(clispec.OtherForms[name], used) {
			return call.Errorf(call.ReasonUnsupported, name,
				"%q cannot be honoured by this backend here", strings.Join(c.Fields[name], ","))
		}
	}
	grants := func(w clispec.When, _ ...string) bool { return slices.Contains(w.Access, c.Access) }
	if c.Access != call.AccessNone && !c.anyRow(spec, grants) {
		return call.Errorf(call.ReasonUnsupported, "access", "%q is no access level of this backend", c.Access)
	}
	return nil
}

// uses reports whether a row that applies tests the field or contains it.
func (c *Call) uses(spec *clispec.Spec, field string) bool {
	names := func(template string) bool { return slices.Contains(grammar.TemplateFields(template), field) }
	return c.anyRow(spec, func(w clispec.When, templates ...string) bool {
		return slices.Contains(w.Set, field) || slices.ContainsFunc(templates, names)
	})
}

// anyRow reports whether a row that applies, of any of the three tables, passes
// the test.
func (c *Call) anyRow(spec *clispec.Spec, test func(w clispec.When, templates ...string) bool) bool {
	return slices.ContainsFunc(spec.ArgTable(), func(r clispec.ArgRow) bool {
		return c.holds(r.When) && test(r.When, r.Args...)
	}) || slices.ContainsFunc(spec.Env, func(r clispec.EnvRow) bool {
		return c.holds(r.When) && test(r.When, r.Value)
	}) || slices.ContainsFunc(spec.Files, func(r clispec.FileRow) bool {
		return c.holds(r.When) && test(r.When, r.Content)
	})
}

// holds reports whether the condition is met.
func (c *Call) holds(w clispec.When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.Fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.Fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.Access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.Output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.Transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees))
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
