package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// With access read, a list of allowed tools can only restrict the tools that read. The error for an unsupported option
// names the access levels that support it.
func TestOptionsByAccess(t *testing.T) {
	own := clispec.Spec{Name: "own", Binary: "own", Args: []clispec.ArgRow{
		{Args: []string{"--tools={allowed_tools}"}, When: clispec.When{Set: []string{"allowed_tools"}, Access: []call.Access{call.AccessRead}}},
		{Args: []string{"--effort={effort}"}, When: clispec.When{Set: []string{"effort"}, Access: []call.Access{call.AccessFull}}},
		{Args: []string{"{prompt}"}},
	}}
	tools := func(list ...string) call.Options { return call.Options{AllowedTools: list} }
	for name, test := range map[string]struct {
		spec    clispec.Spec
		access  call.Access
		options call.Options
		want    string // "" if the option is supported
	}{
		"some read-only tools":         {specs.Claude(), call.AccessRead, tools("Grep"), ""},
		"all read-only tools":          {specs.Gemini(), call.AccessRead, tools(specs.Gemini().ReadTools...), ""},
		"tool that writes":             {specs.Claude(), call.AccessRead, tools("Read", "Write"), `"Write" is not a read-only tool: with access read the list may contain Read, Grep, Glob`},
		"a rule":                       {specs.Claude(), call.AccessRead, tools("Read(/etc/**)"), `"Read(/etc/**)" is not a read-only tool`},
		"everything":                   {specs.Gemini(), call.AccessRead, tools("*"), `"*" is not a read-only tool`},
		"tool name in another case":    {specs.Claude(), call.AccessRead, tools("read"), `"read" is not a read-only tool`},
		"spec without read-only tools": {own, call.AccessRead, tools("view"), `"view" is not a read-only tool: with access read the list may contain none`},
		"allowed tools without access": {specs.Claude(), call.AccessNone, tools("Read"), `"Read" is not supported by this backend with access none, only with read or write or full`},
		"servers":                      {specs.Codex(), call.AccessWrite, call.Options{MCPConfig: goldenMCP()}, "is not supported by this backend with access write, only with full"},
		"option of another level":      {specs.Codex(), call.AccessRead, call.Options{AddDirs: []string{"/a"}}, `"/a" is not supported by this backend with access read, only with write`},
		"option of no level":           {specs.Codex(), call.AccessRead, call.Options{MaxTurns: 2}, `"2" is not supported by this backend`},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("hi")
			req.Access, req.Options = test.access, test.options
			_, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			if test.want == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, call.ReasonUnsupported, err.Reason)
			require.Contains(t, err.Message, test.want)
		})
	}
}

// Subagents become an argument, which other users can see. A definition that may hold a secret is refused, and one that
// is too long causes an error.
func TestAgentsWithSecrets(t *testing.T) {
	claude := composerOf(t, specs.Claude())
	ask := func(agents string) (*Invocation, *call.Error) {
		req := call.Prompt("hi")
		req.Access, req.Options.Agents = call.AccessWrite, []byte(agents)
		return claude.Compose(req, Choice{}, testHost())
	}
	const plain = `{"a":{"description":"says the password: none","prompt":"Ask for env and headers.","tools":["Read"],"mcpServers":["probe",{"x":{"command":"x","env":{}}}]}}`
	inv, err := ask(plain)
	require.Nil(t, err)
	require.Contains(t, inv.Args, "--agents="+plain)
	key := "sk-" + strings.Repeat("a1B2", 10)
	for name, agents := range map[string]string{
		"variable of a server": `{"a":{"prompt":"p","mcpServers":[{"x":{"command":"x","env":{"K":"v"}}}]}}`,
		"a header":             `{"a":{"prompt":"p","mcpServers":{"x":{"url":"https://x","headers":{"Authorization":"v"}}}}}`,
		"key in a text":        `{"a":{"prompt":"use ` + key + `"}}`,
	} {
		_, err := ask(agents)
		require.ErrorIs(t, err, call.ErrUnsupported, name)
		require.Equal(t, "agents", err.Option)
		require.NotContains(t, err.Error(), key)
	}
	_, err = ask(`{"a":{"prompt":"` + strings.Repeat("x", MaxArg) + `"}}`)
	require.ErrorIs(t, err, call.ErrUnsupported)
	require.Equal(t, "agents", err.Option)
}

func TestAgentPresets(t *testing.T) {
	own := func(r *call.Request) { r.Options.MaxTurns, r.Options.AllowedTools = 3, []string{"Read"} }
	none := func(*call.Request) {}
	for name, test := range map[string]struct {
		spec   clispec.Spec
		access call.Access
		set    func(*call.Request)
		turns  string
		tools  string
	}{
		"claude":                         {specs.Claude(), call.AccessWrite, none, "10", "Read,Grep,Glob,Edit,Write,NotebookEdit"},
		"claude, reading":                {specs.Claude(), call.AccessRead, none, "10", ""},
		"claude, all presets":            {specs.Claude(), call.AccessFull, none, "10", ""},
		"claude, without access":         {specs.Claude(), call.AccessNone, none, "", ""},
		"claude, all set by the request": {specs.Claude(), call.AccessWrite, own, "3", "Read"},
		"gemini has no turn limit":       {specs.Gemini(), call.AccessWrite, none, "", strings.Join(specs.Gemini().AgentTools, ",")},
		"codex supports no preset":       {specs.Codex(), call.AccessWrite, none, "", ""},
		"opencode supports no limits":    {specs.OpenCode(), call.AccessWrite, none, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("hi")
			req.Access = test.access
			test.set(&req)
			h := testHost()
			h.Agent = true
			c, err := composerOf(t, test.spec).newCall(req, Choice{}, h)
			require.Nil(t, err)
			require.Equal(t, test.turns, c.Fields.Expand("{max_turns}"))
			require.Equal(t, test.tools, c.Fields.Expand("{allowed_tools}"))
		})
	}
}
