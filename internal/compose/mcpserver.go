package compose

import (
	"encoding/json"
	"maps"

	"github.com/clichain/clichain/internal/plaintext"
)

// mcpServer is one entry of "mcpServers", as most CLIs write it.
type mcpServer struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// mcpServers merges the elements of Options.MCPConfig, which are JSON objects. A server replaces an earlier one of the
// same name.
func mcpServers(list []json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, element := range list {
		var config struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if json.Unmarshal(element, &config) == nil { // never fails: Check has validated it
			maps.Copy(all, config.Servers)
		}
	}
	return all
}

// local returns the server in the format with a "type" and a list as command.
func (s *mcpServer) local() map[string]any {
	if s.URL != "" {
		return map[string]any{"type": "remote", "enabled": true, "url": s.URL, "headers": given(s.Headers)}
	}
	command := append([]string{s.Command}, s.Args...)
	return map[string]any{"type": "local", "enabled": true, "command": command, "environment": given(s.Env)}
}

// toml returns the server as an inline table. JSON strings and lists are valid TOML.
func (s *mcpServer) toml() string {
	if s.URL != "" {
		return "{url=" + toJSON(s.URL) + "}"
	}
	return "{command=" + toJSON(s.Command) + ",args=" + toJSON(append([]string{}, s.Args...)) + "}"
}

// given returns an empty map for nil, which JSON would encode as null.
func given(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// exposed names the part of a server that may hold a secret, "" if there is none. Other users of the machine can read
// the arguments of a process.
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
