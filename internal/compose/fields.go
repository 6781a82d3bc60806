package compose

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/pattern"
)

// Fields maps the names that rows can test and templates can contain to the values of a request. A field that is not
// set has no entry. Only lists have several values.
type Fields map[string][]string

// fieldsOf returns the fields of the request's options. newCall adds prompt, system, model and session, which depend on
// the spec.
func fieldsOf(req call.Request) Fields {
	f, o := Fields{}, req.Options
	f.Set("schema", string(req.Schema))
	f.Set("effort", o.Effort)
	f.Set("permission_mode", o.PermissionMode)
	f.Set("fallback_model", o.FallbackModel)
	f.Set("agents", string(o.Agents))
	f.Set("allowed_tools", o.AllowedTools...)
	f.Set("disallowed_tools", o.DisallowedTools...)
	f.Set("add_dirs", o.AddDirs...)
	f.Set("images", o.Images...)
	f.setMCP(o.MCPConfig)
	if o.StrictMCP {
		f.Set("strict_mcp", "1")
	}
	if o.NoSessionPersistence {
		f.Set("no_session_persistence", "1")
	}
	if o.MaxTurns > 0 {
		f.Set("max_turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		f.Set("max_budget_usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	return f
}

// Set sets a field. No value, or a single empty value, changes nothing.
func (f Fields) Set(name string, values ...string) {
	if len(values) > 1 || len(values) == 1 && values[0] != "" {
		f[name] = values
	}
}

func (f Fields) has(name string) bool { return len(f[name]) > 0 }

// holding returns the name of the longest field that the text contains.
func (f Fields) holding(text string) string {
	name, longest := "prompt", 0
	for n, values := range f {
		if value := strings.Join(values, ","); strings.Contains(text, value) && len(value) > longest {
			name, longest = n, len(value)
		}
	}
	return name
}

// Expand fills in a template. A list becomes its values joined by commas.
func (f Fields) Expand(template string) string {
	return grammar.Placeholder().ReplaceAllStringFunc(template, func(m string) string {
		name, form := grammar.ParsePlaceholder(m)
		value := strings.Join(f[name], ",")
		switch form {
		case "json":
			return jsontext.Quote(value)
		case "text":
			quoted := jsontext.Quote(value)
			return quoted[1 : len(quoted)-1]
		case "list":
			return toJSON(append([]string{}, f[name]...))
		}
		return value
	})
}

// setMCP sets the formats in which CLIs take MCP servers: mcp_config, one document; mcp_local, an object of servers
// whose command is a list; and mcp_toml, one setting for each server. mcp_toml becomes an argument, which other users
// can see, so setMCP does not set it if a server may hold a secret.
func (f Fields) setMCP(list []json.RawMessage) {
	servers := mcpServers(list)
	if len(servers) == 0 {
		return
	}
	f.Set("mcp_config", toJSON(map[string]any{"mcpServers": servers}))
	local, toml := map[string]any{}, []string{}
	for _, name := range namesOf(servers) {
		var s mcpServer
		if json.Unmarshal(servers[name], &s) != nil {
			return // only mcp_config can hold a server of another form
		}
		local[name] = s.local()
		if s.exposed() == "" && bareKey().MatchString(name) {
			toml = append(toml, "mcp_servers."+name+"="+s.toml())
		}
	}
	f.Set("mcp_local", toJSON(local))
	if len(toml) == len(servers) {
		f.Set("mcp_toml", toml...)
	}
}

var bareKey = pattern.Of(`^[A-Za-z0-9_-]+$`)

func toJSON(v any) string {
	text, _ := json.Marshal(v) // cannot fail: the values are strings and parsed JSON
	return string(text)
}

// namesOf returns the keys of the map in sorted order.
func namesOf[V any](m map[string]V) []string {
	if len(m) == 0 { // the common case; Sorted would allocate
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
