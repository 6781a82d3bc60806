package compose

import (
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/plaintext"
)

// unsupported refuses a request of which the rows that apply leave a field
// unused: an option that has no effect would be a silent lie.
func (c *Call) unsupported(spec *clispec.Spec) *call.Error {
	for _, name := range clispec.OptionFields {
		used := func(field string) bool { return c.Fields.has(field) && c.uses(spec, field) }
		if c.Fields.has(name) && !used(name) && !slices.ContainsFunc(clispec.OtherForms[name], used) {
			return call.Errorf(call.ReasonUnsupported, name, "%q cannot be honoured by this backend here", strings.Join(c.Fields[name], ","))
		}
	}
	if c.Access != call.AccessNone && !c.grants(spec) {
		return call.Errorf(call.ReasonUnsupported, "access", "%q is no access level of this backend", c.Access)
	}
	return nil
}

// uses reports whether a row that applies tests the field or contains it.
func (c *Call) uses(spec *clispec.Spec, field string) bool {
	used := false
	c.eachRow(spec, func(w clispec.When, templates ...string) {
		used = used || slices.Contains(w.Set, field) ||
			slices.ContainsFunc(templates, func(t string) bool { return slices.Contains(grammar.TemplateFields(t), field) })
	})
	return used
}

// grants reports whether a row that applies is meant for the access level.
func (c *Call) grants(spec *clispec.Spec) bool {
	granted := false
	c.eachRow(spec, func(w clispec.When, _ ...string) { granted = granted || slices.Contains(w.Access, c.Access) })
	return granted
}

// eachRow calls f for every row that applies, of all three tables.
func (c *Call) eachRow(spec *clispec.Spec, f func(w clispec.When, templates ...string)) {
	for _, row := range spec.ArgTable() {
		if c.holds(row.When) {
			f(row.When, row.Args...)
		}
	}
	for _, row := range spec.Env {
		if c.holds(row.When) {
			f(row.When, row.Value)
		}
	}
	for _, row := range spec.Files {
		if c.holds(row.When) {
			f(row.When, row.Content)
		}
	}
}

// matches reports whether the fields have values of these patterns.
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
		if !c.holds(rule.When) || !c.matches(rule.Match) || rule.Root && !root || slices.ContainsFunc(rule.UnlessEnv, c.sees) {
			continue
		}
		return &call.Error{Reason: rule.Reason, Message: rule.Message, Hint: rule.Hint, ExitCode: -1}
	}
	return nil
}
