package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
)

// setTools sets the fields of the caller's functions, and those of the MCP servers that the user has configured, which
// a call with functions or without access turns off. It warns about servers that it cannot name.
func (h *Host) setTools(c *Call, spec *clispec.Spec) {
	beside := "in a call without access"
	if h.Tools != nil {
		beside = "beside the functions of the caller"
		c.Fields.Set("host_url", h.Tools.URL)
		c.Fields.Set("host_token", h.Tools.Token)
	}
	var own []string
	for i, names := range h.Servers {
		if !c.holds(spec.Servers[i].When) {
			continue
		}
		if slices.Contains(names, "") {
			c.Warnings = append(c.Warnings, fmt.Sprintf(
				"MCP servers of %s may have run %s, because their names are unknown", spec.Servers[i].Path, beside))
		}
		own = append(own, names...)
	}
	slices.Sort(own)
	own = slices.DeleteFunc(slices.Compact(own), func(name string) bool { return name == "" })
	if len(own) == 0 {
		return
	}
	c.Fields.Set("own_servers", own...)
	var off strings.Builder
	for _, name := range own {
		off.WriteString(jsontext.Quote(name) + `:{"enabled":false},`)
	}
	c.Fields.Set("own_servers_off", off.String())
}
