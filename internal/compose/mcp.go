package compose

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
)

// exposed names the part of a server that holds a secret, as far as that shows;
// "" for none. Arguments can be seen by all users of a machine.
func (s *mcpServer) exposed() string {
	switch {
	case len(s.Env) > 0:
		return "env"
	case len(s.Headers) > 0:
		return "headers"
	case plaintext.TellingURL(s.URL):
		return "url"
	case plaintext.Telling(append([]string{s.Command}, s.Args...)):
		return "args"
	}
	return ""
}

// unsupportedMCP is the error for servers that this backend cannot be given. It
// tells nothing of them but their names.
func (c *Call) unsupportedMCP(spec *clispec.Spec) *call.Error {
	asArguments := Call{c.Access, c.Output, c.Transport, maps.Clone(c.Fields), c.Env}
	asArguments.Fields.Set("mcp_toml", "any")
	if asArguments.uses(spec, "mcp_toml") {
		servers := mcpServers([]json.RawMessage{json.RawMessage(c.Fields["mcp_config"][0])})
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			var s mcpServer
			if json.Unmarshal(servers[name], &s) == nil && s.exposed() != "" {
				return call.Errorf(call.ReasonUnsupported, "mcp_config", "server %q: its %s may hold a secret, and this CLI takes "+
					"servers as arguments, which other users can see: set it up in the CLI's own configuration", name, s.exposed())
			}
		}
	}
	return call.Errorf(call.ReasonUnsupported, "mcp_config", "cannot be honoured by this backend here")
}
