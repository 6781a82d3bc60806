package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// unsupported returns an error for a request with a field that no row uses. Without the error, the caller would not
// notice that the option had no effect.
func (c *Call) unsupported(spec *clispec.Spec) *call.Error {
	for _, name := range clispec.OptionFields {
		if c.Fields.has(name) && !c.supports(spec, name) {
			if err := c.ofOtherVersion(spec, name); err != nil {
				return err
			}
			if name == "mcp_config" {
				return c.unsupportedMCP(spec)
			}
			return c.refuse(spec, name, strings.Join(c.Fields[name], ","))
		}
	}
	if c.Fields.has("host_url") && !c.uses(spec, "host_url") {
		err := c.refuse(spec, "host_url", "")
		err.Option = "tools"
		return err
	}
	if c.Fields.has("agents") && secretAgents(c.Fields["agents"][0]) && c.inArguments(spec, "agents") {
		return advised(call.Errorf(call.ReasonUnsupported, "agents",
			"the definition may hold a secret, and this CLI takes it as an argument, which other users can see"),
			call.Advice{Action: call.ActionSet, Field: "options.mcp_config"})
	}
	if c.Access != call.AccessNone && !c.grants(spec) {
		if err := c.grantedByOtherVersion(spec); err != nil {
			return err
		}
		return call.Errorf(call.ReasonUnsupported, "access", "%q is not an access level of this backend", c.Access)
	}
	if c.Access == call.AccessRead {
		return c.checkReadTools(spec)
	}
	return nil
}

// agentTurns is the maximum number of turns of an agent whose request sets none.
const agentTurns = "10"

// presetAgent sets the options that Config.Agent promises, unless the request sets them or the CLI does not support
// them.
func (c *Call) presetAgent(spec *clispec.Spec) {
	if c.Access > call.AccessNone {
		c.preset(spec, "max_turns", agentTurns)
	}
	if c.Access == call.AccessWrite {
		c.preset(spec, "allowed_tools", spec.AgentTools...)
	}
}

func (c *Call) preset(spec *clispec.Spec, field string, values ...string) {
	if c.Fields.has(field) {
		return
	}
	if c.Fields.Set(field, values...); !c.supports(spec, field) {
		delete(c.Fields, field)
	}
}

// supports reports whether a row that applies uses the option in one of its forms.
func (c *Call) supports(spec *clispec.Spec, option string) bool {
	used := func(field string) bool { return c.Fields.has(field) && c.uses(spec, field) }
	return used(option) || slices.ContainsFunc(clispec.OtherForms[option], used)
}

// inArguments reports whether an argument that applies contains the field.
func (c *Call) inArguments(spec *clispec.Spec, field string) bool {
	names := func(template string) bool { return contains(template, field) }
	return slices.ContainsFunc(spec.ArgTable(), func(row clispec.ArgRow) bool {
		return c.holds(row.When) && slices.ContainsFunc(row.Args, names)
	})
}

// grants reports whether a row that applies names the access level of the call.
func (c *Call) grants(spec *clispec.Spec) bool {
	return c.anyRow(spec, c.names)
}

// names reports whether a row names the access level of the call.
func (c *Call) names(row clispec.Row) bool { return slices.Contains(row.When.Access, c.Access) }

// refuse returns the error for an option that has no effect. It names the access levels that support the option.
func (c *Call) refuse(spec *clispec.Spec, option, value string) *call.Error {
	var levels []string
	for access := call.AccessNone; access <= call.AccessFull; access++ {
		other := *c
		other.Access = access
		if (access == call.AccessNone || other.grants(spec)) && other.supports(spec, option) {
			levels = append(levels, access.String())
		}
	}
	text := "is not supported by this backend"
	if len(levels) > 0 {
		text = fmt.Sprintf("is not supported by this backend with access %s, only with %s",
			c.Access, strings.Join(levels, " or "))
	}
	if value != "" {
		text = fmt.Sprintf("%q %s", value, text)
	}
	return call.Errorf(call.ReasonUnsupported, option, "%s", text)
}

// checkReadTools returns an error for allowed tools that AccessRead does not permit. At that level, the list can only
// narrow the tools of the agent.
func (c *Call) checkReadTools(spec *clispec.Spec) *call.Error {
	for _, tool := range c.Fields["allowed_tools"] {
		if !slices.Contains(spec.ReadTools, tool) {
			return call.Errorf(call.ReasonUnsupported, "allowed_tools",
				"%q is not a read-only tool: with access read the list may contain %s", tool,
				cmp.Or(strings.Join(spec.ReadTools, ", "), "none"))
		}
	}
	return nil
}
