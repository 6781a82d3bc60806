package failover_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/workdir"
	"github.com/clichain/clichain/specs"
)

// Errors about options name the field, the value and the remedy before anything starts. They end a chain, because no
// other backend could help.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	file := write("file", "x")
	quoted := func(name string) json.RawMessage { return json.RawMessage(`"` + name + `"`) }
	mcp := func(elements ...json.RawMessage) clichain.Options { return clichain.Options{MCPConfig: elements} }
	for name, test := range map[string]struct {
		options clichain.Options
		field   string
		says    string
	}{
		"mode of two words":        {clichain.Options{PermissionMode: "plan --yolo"}, "options.permission_mode", "one word"},
		"mode like a flag":         {clichain.Options{PermissionMode: "--yolo"}, "options.permission_mode", "--yolo"},
		"effort like a flag":       {clichain.Options{Effort: "-c"}, "options.effort", "one word"},
		"effort with a quote":      {clichain.Options{Effort: `high"`}, "options.effort", "one word"},
		"system mode":              {clichain.Options{SystemMode: "prepend"}, "options.system_mode", "append, replace"},
		"agents no object":         {clichain.Options{Agents: []byte(`["a"]`)}, "options.agents", "JSON object"},
		"agents no JSON":           {clichain.Options{Agents: []byte(`{`)}, "options.agents", "JSON object"},
		"NUL in a fallback model":  {clichain.Options{FallbackModel: "a\x00"}, "options.fallback_model", "NUL"},
		"NUL in a raw argument":    {clichain.Options{Extra: map[string][]string{"claude": {"ok", "a\x00"}}}, "options.extra.claude[1]", "NUL"},
		"UTF-8 in a directory":     {clichain.Options{AddDirs: []string{"a\xff"}}, "options.add_dirs[0]", "invalid UTF-8"},
		"empty directory":          {clichain.Options{AddDirs: []string{dir, ""}}, "options.add_dirs[1]", "is empty"},
		"no such directory":        {clichain.Options{AddDirs: []string{dir + "/none"}}, "options.add_dirs[0]", "no such file"},
		"a file for a directory":   {clichain.Options{AddDirs: []string{file}}, "options.add_dirs[0]", "is not a directory"},
		"no such image":            {clichain.Options{Images: []string{file, dir + "/none.png"}}, "options.images[1]", "no such file"},
		"a directory for an image": {clichain.Options{Images: []string{dir}}, "options.images[0]", "is not a regular file"},
		"a device for an image":    {clichain.Options{Images: []string{os.DevNull}}, "options.images[0]", "is not a regular file"},
		"MCP number":               {mcp(json.RawMessage(`7`)), "options.mcp_config[0]", "must be a JSON object, or a JSON string"},
		"MCP nothing":              {mcp(json.RawMessage(``)), "options.mcp_config[0]", "is empty"},
		"MCP without servers":      {mcp(json.RawMessage(`{"servers":{}}`)), "options.mcp_config[0]", "names no server"},
		"MCP servers in a list":    {mcp(json.RawMessage(`{"mcpServers":[]}`)), "options.mcp_config[0]", "not an MCP configuration"},
		"MCP file missing":         {mcp(quoted(dir + "/none.json")), "options.mcp_config[0]", "no such file"},
		"MCP file a directory":     {mcp(quoted(dir)), "options.mcp_config[0]", "not a regular file"},
		"MCP file no JSON":         {mcp(quoted(file)), "options.mcp_config[0]", "not an MCP configuration"},
		"MCP file too long":        {mcp(quoted(write("long", strings.Repeat(" ", 1<<20)+"{}"))), "options.mcp_config[0]", "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			req := clichain.Prompt("hi")
			req.Access, req.Options = clichain.AccessFull, test.options
			never := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Exit(9)))
			next := &chaintest.Backend{ID: "next"}
			_, err := clichain.ChainOf([]clichain.Backend{never, next}, nil).Complete(t.Context(), req)
			var be *clichain.BackendError
			require.ErrorAs(t, err, &be)
			require.Contains(t, []clichain.Reason{clichain.ReasonBadOption, clichain.ReasonBadRequest}, be.Reason)
			require.Equal(t, test.field, be.Option)
			require.Contains(t, be.Message, test.says)
			require.Zero(t, next.Asked)
		})
	}
}

// A JSON request with a value of the wrong type names the field.
func TestOptionsOfTheWrongKind(t *testing.T) {
	t.Parallel()
	for field, value := range map[string]string{
		"max_turns": `"three"`, "max_budget_usd": `"much"`, "allowed_tools": `"Read"`, "strict_mcp": `"yes"`, "extra": `["-x"]`,
		"mcp_config": `{}`, "permission_mode": `1`, "images": `[1]`,
	} {
		err := json.Unmarshal([]byte(`{"messages":[],"options":{"`+field+`":`+value+`}}`), new(clichain.Request))
		require.ErrorContains(t, err, "options."+field)
	}
}

// Relative paths start at the caller's directory, not at the working directory of the CLI.
func TestOptionPathsAreTheCallers(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.CodexAnswer("yes"))))
	req := clichain.Prompt("hi")
	req.Access, req.Dir, req.Options.Images = clichain.AccessRead, t.TempDir(), []string{"testdata/../main_test.go"}
	_, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	want, err := filepath.Abs("main_test.go")
	require.NoError(t, err)
	require.Contains(t, ran.Args, "--image="+want)
}

// Servers come from objects and from files. Their secrets are in no argument.
func TestMCPConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"b":{"command":"b"},"a":{"command":"late"}}}`), 0o600))
	name, err := json.Marshal(file)
	require.NoError(t, err)
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessFull
	req.Options.MCPConfig = []json.RawMessage{json.RawMessage(`{"mcpServers":{"a":{"command":"a","env":{"TOKEN":"s3cr3t-word"}}}}`), name}
	t.Setenv("IS_SANDBOX", "1")

	t.Run("claude gets a file", func(t *testing.T) {
		clitest.NoLeaks(t)
		record := filepath.Join(t.TempDir(), "record")
		p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ResultLine("yes")+"\n")))
		_, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		ran, err := clitest.ReadRecord(record)
		require.NoError(t, err)
		require.Contains(t, strings.Join(ran.Args, " "), "--mcp-config=")
		require.NotContains(t, strings.Join(ran.Args, " "), "s3cr3t-word")
	})
	t.Run("opencode gets its own format", func(t *testing.T) {
		inv, err := composerOf(t, specs.OpenCode()).Compose(withFiles(t, req), compose.Choice{}, testHost())
		require.Nil(t, err)
		require.Contains(t, strings.Join(inv.Env, "\n"), `"mcp":{"a":{"command":["late"],"enabled":true,"environment":{},"type":"local"},"b":{"command":["b"],"enabled":true,"environment":{},"type":"local"}}`)
	})
	t.Run("codex has only arguments", func(t *testing.T) {
		secret := req
		secret.Options.MCPConfig = req.Options.MCPConfig[:1]
		_, err := composerOf(t, specs.Codex()).Compose(secret, compose.Choice{}, testHost())
		require.ErrorIs(t, err, clichain.ErrUnsupported)
		require.Equal(t, "mcp_config", err.Option)
		inv, err := composerOf(t, specs.Codex()).Compose(withFiles(t, req), compose.Choice{}, testHost())
		require.Nil(t, err)
		require.Contains(t, inv.Args, `mcp_servers.b={command="b",args=[]}`)
	})
}

func withFiles(t *testing.T, req clichain.Request) clichain.Request {
	t.Helper()
	options, err := workdir.ResolveOptions(req.Options)
	require.Nil(t, err)
	req.Options = options
	return req
}

// A mode that bypasses permissions counts as a bypass.
func TestBypassNeedsFullAccess(t *testing.T) {
	t.Parallel()
	for _, spec := range specs.Every() {
		mode, ok := map[string]string{"claude": "bypassPermissions", "codex": "danger-full-access", "gemini": "yolo"}[spec.Name]
		if !ok {
			continue
		}
		for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull} {
			req := clichain.Prompt("hi")
			req.Access, req.Options.PermissionMode = access, mode
			_, err := composerOf(t, spec).Compose(req, compose.Choice{}, testHost())
			require.Equal(t, access == clichain.AccessFull, err == nil, "%s %s: %v", spec.Name, access, err)
		}
	}
}

func TestNestedSession(t *testing.T) {
	clitest.NoLeaks(t)
	t.Setenv("CLAUDECODE", "")
	chaintest.RequireReason(t, clichain.ReasonNestedSession, chaintest.Provider(t, specs.Claude(), clichain.Config{RefuseNested: true}, chaintest.Play()).Available(t.Context()))
	t.Setenv("CLAUDECODE", "1")
	record := filepath.Join(t.TempDir(), "record")
	scenario := chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ResultLine("yes")+"\n"))
	_, err := chaintest.Provider(t, specs.Claude(), clichain.Config{RefuseNested: true}, scenario).Complete(t.Context(), clichain.Prompt("hi"))
	be := chaintest.RequireReason(t, clichain.ReasonNestedSession, err)
	require.Contains(t, be.Message, "CLAUDECODE")
	require.NoFileExists(t, record)

	_, err = chaintest.Provider(t, specs.Claude(), clichain.Config{InheritEnv: true}, scenario).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.NotContains(t, strings.Join(ran.Env, "\n"), "CLAUDECODE")

	_, err = chaintest.Provider(t, specs.Codex(), clichain.Config{RefuseNested: true}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("yes")))).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err, "another agent's session is not its own")
}
