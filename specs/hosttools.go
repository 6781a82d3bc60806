package specs

import (
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// hostName is the name under which a CLI knows the server with the functions of the caller. It has no character that a
// CLI would replace in the names of tools.
const hostName = "hosttools"

// hostTools is the condition for a call with functions of the caller at some access levels, or at all of them.
func hostTools(a ...call.Access) clispec.When { return setFor("host_url", a...) }

// hostServer returns the settings of the server with the functions of the caller. typeKey and typeName tell that it is
// an HTTP server, if the CLI needs that, and urlKey is the member for its address.
func hostServer(typeKey, typeName, urlKey string) string {
	kind := ""
	if typeKey != "" {
		kind = `"` + typeKey + `":"` + typeName + `",`
	}
	return `{"mcpServers":{"` + hostName + `":{` + kind + `"` + urlKey + `":{host_url:json},` +
		`"headers":{"Authorization":"Bearer {host_token:text}"}}}}`
}

// codexToken is the variable with the token for the functions of the caller. Others could see an argument, and the CLI
// reads a token from nothing else.
const codexToken = "CLICHAIN_TOOLS_TOKEN"

// codexTools offers the functions of the caller. It turns the user's own servers off, because they would inherit the
// token, and because a plain completion needs none. Plugins can have servers too.
func codexTools() []clispec.ArgRow {
	off := []string{"-c", "mcp_servers.{own_servers}.enabled=false"}
	server := `mcp_servers.` + hostName + `={url={host_url:json},bearer_token_env_var="` + codexToken + `",` +
		`default_tools_approval_mode="approve",tool_timeout_sec=60}`
	return []clispec.ArgRow{
		{Args: []string{"-c", server}, When: hostTools()},
		{Args: off, Each: "own_servers", When: access(call.AccessNone)},
		{Args: off, Each: "own_servers", When: hostTools(agentAccess()...)},
		{
			Args: settingArgs([]string{
				"features.apps=false", "features.plugins=false", `shell_environment_policy.set.` + codexToken + `=""`,
			}),
			When: hostTools(agentAccess()...),
		},
	}
}

// codexServers finds the servers that have their own table. It cannot name those in other forms of TOML.
func codexServers() (files []clispec.ServerFile) {
	const pattern = `(?m)^\s*(?:\[\s*)?mcp_servers\s*\.\s*(?P<name>[\w-]+)\s*[\].=]|^[^#\n]*\bmcp_servers\b`
	for _, path := range []string{"${CODEX_HOME:-~/.codex}/config.toml", "/etc/codex/config.toml"} {
		files = append(files, clispec.ServerFile{Path: path, Pattern: pattern})
	}
	return append(files, clispec.ServerFile{Path: "./.codex/config.toml", Pattern: pattern, When: set("trust_dir")})
}

// geminiTools is the condition for a call with functions of the caller. A call with more access works in a directory of
// the user, and a session continues only in its own directory, so neither can have settings of clichain.
func geminiTools() clispec.When {
	when := setFor("host_url", call.AccessNone)
	when.Unset = []string{"session"}
	return when
}

// geminiToolFiles allows the tools of any MCP server, because the live mode does not check policies with the name of
// the server. The arguments allow only the server with the functions.
func geminiToolFiles() []clispec.FileRow {
	return []clispec.FileRow{
		{Field: "policy", Name: "none.toml", When: geminiTools(), Content: geminiDenyAll + geminiRead(`"mcp_*"`)},
		// The CLI reads the settings of the system only if root owns them, and those of the user are the user's.
		{
			Field: "settings", Name: ".gemini/settings.json", Workdir: true, Content: hostServer("", "", "httpUrl"),
			When: geminiTools(),
		},
	}
}

// offerTools lets the CLI offer the functions of the caller. The token is in a private file, because programs of the
// user that the CLI starts inherit its variables. There are no rows for a request that has its own servers too.
func (o openCode) offerTools(s *clispec.Spec) {
	const allowed = `"` + hostName + `_*":"allow"`
	const server = `"mcp":{{own_servers_off}"` + hostName + `":{"type":"remote","url":{host_url:json},"oauth":false,` +
		`"enabled":true,"headers":{"Authorization":"Bearer {file:{token_file:text}}"}}}`
	with := func(permission string) string { return strings.TrimSuffix(permission, "}") + "," + allowed + "}" }
	none, read, write := with(openCodeNone), with(openCodeReading), with(o.writing())
	const only = `"tools":{"*":false,"` + hostName + `_*":true}`

	for _, prompt := range [][]string{nil, {openCodePrompt}} {
		when := clispec.When{Set: []string{"host_url"}, Unset: []string{"mcp_config"}}
		if prompt != nil {
			when.Set = append(when.Set, "system_replace")
		} else {
			when.Unset = append(when.Unset, "system_replace")
		}
		agent := func(parts ...string) string { return openCodeAgent(append(slices.Clone(prompt), parts...)...) }
		s.Env = slices.Concat(s.Env,
			[]clispec.EnvRow{o.row(call.AccessNone, when, agent(only), none, server)},
			o.inFolder(call.AccessRead, when, agent(read), read, server),
			o.inFolder(call.AccessWrite, when, agent(write), write, server),
		)
		if full := []string{openCodeFull, server}; prompt != nil {
			s.Env = append(s.Env, o.row(call.AccessFull, when, append(full, agent(prompt...))...))
		} else {
			s.Env = append(s.Env, o.row(call.AccessFull, when, full...))
		}
	}
	s.Files = append(s.Files, clispec.FileRow{Field: "token", Name: "token", Content: "{host_token}", When: clispec.When{
		Set: []string{"host_url"}, Unset: []string{"mcp_config"},
	}})
}

// servers are the files in which the user configures MCP servers.
func (o openCode) servers() (files []clispec.ServerFile) {
	for _, path := range o.configFiles() {
		files = append(files, clispec.ServerFile{Path: path, JSON: "mcp"})
	}
	for _, name := range o.config {
		files = append(files, clispec.ServerFile{Path: "./" + name, JSON: "mcp", When: set("trust_dir")})
	}
	return files
}
