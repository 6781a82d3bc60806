package compose

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// mcpServer is one entry of "mcpServers", as most CLIs write it.
type mcpServer struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// mcpServers joins the elements of Options.MCPConfig, which are all objects at
// this point. Of two servers with one name the later counts.
func mcpServers(list []json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, element := range list {
		var config struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if json.Unmarshal(element, &config) == nil { // it was checked
			maps.Copy(all, config.Servers)
		}
	}
	return all
}

// setMCP sets the forms in which CLIs take their servers: mcp_config, a whole
// document; mcp_local, an object of servers whose command is a list; and
// mcp_toml, one setting for each server. mcp_toml becomes an argument, which
// other users can see, so it is not set for servers with env or headers.
func (f Fields) setMCP(list []json.RawMessage) {
	servers := mcpServers(list)
	if len(servers) == 0 {
		return
	}
	f.Set("mcp_config", toJSON(map[string]any{"mcpServers": servers}))
	local, toml := map[string]any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		var s mcpServer
		if json.Unmarshal(servers[name], &s) != nil {
			return // a server of another shape fits only the whole document
		}
		local[name] = s.local()
		if len(s.Env) == 0 && len(s.Headers) == 0 && bareKey.MatchString(name) {
			toml = append(toml, "mcp_servers."+name+"="+s.toml())
		}
	}
	f.Set("mcp_local", toJSON(local))
	if len(toml) == len(servers) {
		f.Set("mcp_toml", toml...)
	}
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// local is the server in the format that has a "type" and a list as command.
func (s *mcpServer) local() map[string]any {
	if s.URL != "" {
		return map[string]any{"type": "remote", "enabled": true, "url": s.URL, "headers": given(s.Headers)}
	}
	command := append([]string{s.Command}, s.Args...)
	return map[string]any{"type": "local", "enabled": true, "command": command, "environment": given(s.Env)}
}

// toml is an inline table. JSON strings and lists are TOML as well.
func (s *mcpServer) toml() string {
	if s.URL != "" {
		return "{url=" + toJSON(s.URL) + "}"
	}
	return "{command=" + toJSON(s.Command) + ",args=" + toJSON(append([]string{}, s.Args...)) + "}"
}

func toJSON(v any) string {
	text, _ := json.Marshal(v) // cannot fail: strings, and JSON that was parsed
	return string(text)
}

// given returns the map, an empty one for nil, which JSON would write as null.
func given(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
