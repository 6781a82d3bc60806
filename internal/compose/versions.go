package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/semver"
)

// inRange reports whether the version satisfies the condition of a row.
func (c *Call) inRange(w clispec.When) bool { return c.anyVersion || w.AppliesTo(c.assumed) }

// ofOtherVersion returns the error for an option that only another version of the CLI has a flag for, nil if none has.
func (c *Call) ofOtherVersion(spec *clispec.Spec, option string) *call.Error {
	forms := append([]string{option}, clispec.OtherForms[option]...)
	value := fmt.Sprintf("%q", strings.Join(c.Fields[option], ","))
	return c.otherVersion(spec, option, value, func(row clispec.Row) bool {
		return slices.ContainsFunc(forms, func(field string) bool { return c.Fields.has(field) && rowUses(row, field) })
	})
}

// grantedByOtherVersion returns the error for an access level that only another version supports, nil if none does.
func (c *Call) grantedByOtherVersion(spec *clispec.Spec) *call.Error {
	return c.otherVersion(spec, "access", fmt.Sprintf("%q", c.Access), c.names)
}

func (c *Call) otherVersion(
	spec *clispec.Spec, option, what string, needed func(clispec.Row) bool,
) (err *call.Error) {
	other := *c
	other.anyVersion = true
	installed := cmp.Or(c.Version, "an unknown version")
	other.anyRow(spec, func(row clispec.Row) bool {
		if c.inRange(row.When) || !needed(row) {
			return false
		}
		if since := row.When.Since; semver.Less(c.assumed, since) {
			err = call.Errorf(call.ReasonUnsupported, option, "%s needs version %s of %s or later: %s is installed",
				what, since, spec.Name, installed)
			err.Hint = strings.TrimSuffix("update it: "+spec.Hints[call.ReasonNotInstalled], ": ")
		} else {
			err = call.Errorf(call.ReasonUnsupported, option, "%s has no flag since version %s of %s: %s is installed",
				what, row.When.Before, spec.Name, installed)
			err.Hint = "leave it out, or add a row for this version to the spec"
		}
		return true
	})
	return err
}
