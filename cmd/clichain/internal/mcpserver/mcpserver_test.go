package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// answering returns a backend with the spec of a built-in CLI.
func answering(name string, answer func(context.Context, clichain.Request) (*clichain.Response, error)) backend {
	spec, ok := specs.ByName(name)
	if !ok {
		spec.Name = name
	}
	return backend{clichain.BackendFunc(name, answer), spec}
}

// says returns a backend that answers with its name and the request.
func says(name string) backend {
	return answering(name, func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		data, err := json.Marshal(req)
		return &clichain.Response{Text: name + " got " + string(data), Backend: name, Model: "m"}, err
	})
}

// newServer returns a server with the default limits.
func newServer(backends ...backend) *server {
	return &server{
		backends: backends, specs: specs.Every(), jobs: 4, maxDepth: 1, log: slog.New(slog.DiscardHandler),
		chain: func(list []clichain.Backend, hooks *clichain.Hooks) *clichain.Chain {
			return clichain.ChainOf(list, &clichain.ChainConfig{Hooks: hooks})
		},
		usage:  func(context.Context) (any, error) { return map[string]any{"accounts": []int{}}, nil },
		doctor: func(context.Context) (any, error) { return map[string]any{"ready": 1}, nil },
	}
}

// client is a connected MCP client.
type client struct {
	*mcp.ClientSession
	t     *testing.T
	ended chan error // the result of the server
}

// connect starts the server and connects a client with this name.
func (s *server) connect(t *testing.T, name string, options *mcp.ClientOptions) client {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	c := client{t: t, ended: make(chan error, 1)}
	go func() { c.ended <- s.run(t.Context(), there) }()
	var err error
	c.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, options).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// close closes the connection, and waits for the end of the server.
func (c client) close() {
	c.t.Helper()
	require.NoError(c.t, c.Close())
	require.NoError(c.t, <-c.ended)
}

type arguments map[string]any

func (c client) call(tool string, args arguments) *mcp.CallToolResult {
	c.t.Helper()
	result, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	require.NoError(c.t, err)
	return result
}

// answers returns the texts of a result that is no error.
func (c client) answers(tool string, args arguments) (texts []string) {
	c.t.Helper()
	result := c.call(tool, args)
	for _, part := range result.Content {
		texts = append(texts, part.(*mcp.TextContent).Text)
	}
	require.False(c.t, result.IsError, "%q", texts)
	return texts
}

// fails returns the structured content of an error, whose text is its message.
func (c client) fails(tool string, args arguments) (f failure) {
	c.t.Helper()
	result := c.call(tool, args)
	require.True(c.t, result.IsError, "%v", result.Content)
	data, err := json.Marshal(result.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(data, &f))
	require.Equal(c.t, f.Message, result.Content[0].(*mcp.TextContent).Text)
	return f
}

func TestTools(t *testing.T) {
	for name, access := range map[string]clichain.Access{"none": clichain.AccessNone, "write": clichain.AccessWrite} {
		t.Run(name, func(t *testing.T) {
			s := newServer(says("claude"), says("codex"))
			s.permissions.Access = access
			c := s.connect(t, "claude-code", nil)
			list, err := c.ListTools(t.Context(), nil)
			require.NoError(t, err)
			data, err := json.MarshalIndent(list.Tools, "", "  ")
			require.NoError(t, err)
			consoletest.SameFile(t, filepath.Join("testdata", "tools-"+name+".json"), string(data)+"\n")
			c.close()
		})
	}
}

func TestAsk(t *testing.T) {
	down := answering("claude", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, clichain.ErrUsageLimit
	})
	c := newServer(down, says("codex"), says("gemini")).connect(t, "any", nil)
	got := c.answers("ask", arguments{"prompt": "P", "system": "S", "model": "m"})
	require.Equal(t, `codex got {"messages":[{"role":"system","content":"S"},{"role":"user","content":"P"}],"model":"m"}`, got[0])
	require.Equal(t, "Answered by codex with the model m; claude: usage_limit.", got[1])
	require.Contains(t, c.answers("ask", arguments{"prompt": "P", "backends": []string{"gemini", "codex"}})[0], "gemini got")
	require.Equal(t, []string{`{"accounts":[]}`}, c.answers("usage", nil))
	require.Equal(t, []string{`{"ready":1}`}, c.answers("doctor", arguments{}))
	c.close()
}

func TestSecondOpinion(t *testing.T) {
	all := []backend{says("claude"), says("opencode"), says("codex"), says("gemini")}
	for _, test := range []struct{ name, client, flag, want string }{
		{"claude", "claude-code", "", "codex"},
		{"codex", "codex-mcp-client", "", "claude"},
		{"prefix of a name", "gemini-cli-mcp-client-v2", "", "claude"},
		{"flag instead of a name", "claude-code", "codex", "claude"},
		{"CLI with models of several vendors", "", "opencode", "claude"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(all...)
			s.caller = test.flag
			c := s.connect(t, test.client, nil)
			require.Contains(t, c.answers("second_opinion", arguments{"prompt": "P"})[0], test.want+" got")
		})
	}
}

func TestSecondOpinionFails(t *testing.T) {
	another := says("claude-2")
	another.spec = specs.Claude()
	another.spec.Name, another.spec.InstanceOf = "claude-2", "claude"
	s := newServer(says("claude"), another)
	f := s.connect(t, "claude-code", nil).fails("second_opinion", arguments{"prompt": "P"})
	require.Equal(t, clichain.ReasonUnsupported, f.Reason)
	require.Contains(t, f.Message, "no backend of another vendor than anthropic")
	f = s.connect(t, "my editor", nil).fails("second_opinion", arguments{"prompt": "P"})
	require.Contains(t, f.Message, `the vendor of the MCP client "my editor" is unknown: let the operator start clichain mcp with --caller`)
}

// A backend without a vendor may have a model of any vendor, so it is asked last.
func TestSecondOpinionPrefersKnownVendor(t *testing.T) {
	var names []string
	for _, b := range otherVendors([]backend{says("opencode"), says("claude"), says("codex")}, specs.Gemini()) {
		names = append(names, b.Name())
	}
	require.Equal(t, []string{"claude", "codex", "opencode"}, names)
}

func TestCeiling(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	s := newServer(says("claude"))
	s.permissions = permit.Permissions{Access: clichain.AccessRead, Dirs: []string{dir}, Models: []string{"small"}, MaxBytes: 1000}
	c := s.connect(t, "any", nil)
	require.Contains(t, c.answers("ask", arguments{"prompt": "P", "access": "read", "model": "small"})[0], `"access":"read"`)
	for _, test := range []struct {
		name   string
		args   arguments
		reason clichain.Reason
		text   string
	}{
		{"access", arguments{"access": "write"}, clichain.ReasonPermissionRefused, "--max-access"},
		{"directory", arguments{"access": "read", "dir": other}, clichain.ReasonPermissionRefused, "--permit dir=PATH"},
		{"model", arguments{"model": "large"}, clichain.ReasonPermissionRefused, "--permit model=NAME"},
		{"size", arguments{"system": strings.Repeat("x", 1000)}, clichain.ReasonPermissionRefused, "--permit bytes=N"},
		{"backend", arguments{"backends": []string{"codex"}}, clichain.ReasonBadOption, `"codex" is not one of claude`},
		{"options", arguments{"options": arguments{"extra": 1}}, clichain.ReasonBadOption, `unknown field "options"`},
		{"environment", arguments{"env": arguments{"A": "b"}}, clichain.ReasonBadOption, `unknown field "env"`},
		{"unknown access", arguments{"access": "all"}, clichain.ReasonBadOption, "none of"},
		{"wrong type", arguments{"model": 1}, clichain.ReasonBadOption, "cannot unmarshal number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.args["prompt"] = "P"
			f := c.fails("ask", test.args)
			require.Equal(t, test.reason, f.Reason)
			require.Contains(t, f.Message, test.text)
		})
	}
	require.Contains(t, c.fails("usage", arguments{"all": true}).Message, `arguments of usage: json: unknown field "all"`)
}

func TestDepth(t *testing.T) {
	s := newServer(says("claude"))
	s.depth = 1
	c := s.connect(t, "codex-mcp-client", nil)
	for _, tool := range []string{"ask", "second_opinion"} {
		f := c.fails(tool, arguments{"prompt": "P"})
		require.Equal(t, clichain.ReasonNestedSession, f.Reason)
		require.Contains(t, f.Message, "answer without this tool, or let the operator raise --max-depth of clichain mcp")
	}
	require.Len(t, c.answers("usage", nil), 1, "it asks no agent")
	deeper := newServer(says("claude"))
	deeper.depth, deeper.maxDepth = 1, 2
	require.Len(t, deeper.connect(t, "codex-mcp-client", nil).answers("ask", arguments{"prompt": "P"}), 2)
}
