package compose

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
)

// secretAgents reports whether a definition of subagents may hold a secret: a key in some text, or an MCP server with
// variables or headers.
func secretAgents(text string) bool {
	var agents any
	_ = json.Unmarshal([]byte(text), &agents) // valid: Check has parsed it
	return (*plaintext.Redactor)(nil).Clean(text) != text || hasMembers(agents, "env", "headers")
}

// hasMembers reports whether any object within a JSON value has a nonempty object as one of the named members.
func hasMembers(value any, names ...string) bool {
	deeper := func(v any) bool { return hasMembers(v, names...) }
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, deeper)
	case map[string]any:
		for name, member := range v {
			if object, _ := member.(map[string]any); len(object) > 0 && slices.Contains(names, name) || deeper(member) {
				return true
			}
		}
	}
	return false
}

// ServerSecrets returns the variables and the headers of the MCP servers as "NAME=value".
func (c *Call) ServerSecrets() (list []string) {
	if c.Fields.has("host_token") {
		list = append(list, "HOST_TOKEN="+c.Fields["host_token"][0])
	}
	for _, text := range c.servers() {
		var s mcpServer
		_ = json.Unmarshal(text, &s) // keeps the fields that it can parse of a server of another form
		for name, value := range s.Env {
			list = append(list, name+"="+value)
		}
		for name, value := range s.Headers {
			list = append(list, "HEADERS="+name+": "+value)
		}
	}
	return list
}

// ServerCommands returns the command lines of the MCP servers that the CLI starts, sorted by the names of the servers.
func (c *Call) ServerCommands() (lines [][]string) {
	servers := c.servers()
	for _, name := range namesOf(servers) {
		var s mcpServer
		_ = json.Unmarshal(servers[name], &s) // keeps the fields that it can parse of a server of another form
		if s.Command != "" {
			lines = append(lines, append([]string{s.Command}, s.Args...))
		}
	}
	return lines
}

// servers returns the MCP servers of the field mcp_config, nil if it is not set.
func (c *Call) servers() map[string]json.RawMessage {
	if !c.Fields.has("mcp_config") {
		return nil
	}
	return mcpServers([]json.RawMessage{json.RawMessage(c.Fields["mcp_config"][0])})
}

// unsupportedMCP returns the error for MCP servers that this backend does not support. It contains only the name of a
// server and of the part that may be secret.
func (c *Call) unsupportedMCP(spec *clispec.Spec) *call.Error {
	asArguments := *c
	asArguments.Fields = maps.Clone(c.Fields)
	asArguments.Fields.Set("mcp_toml", "any")
	if asArguments.uses(spec, "mcp_toml") {
		servers := c.servers()
		for _, name := range namesOf(servers) {
			var s mcpServer
			if json.Unmarshal(servers[name], &s) == nil && s.exposed() != "" {
				return call.Errorf(call.ReasonUnsupported, "mcp_config", "server %q: its %s may hold a secret, and this CLI takes "+
					"servers as arguments, which other users can see: set it up in the CLI's own configuration", name, s.exposed())
			}
		}
	}
	return c.refuse(spec, "mcp_config", "")
}
