package permit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
	"github.com/stretchr/testify/require"
)

// makeDirs creates an allowed directory, another directory, and links between them.
func makeDirs(t *testing.T) (allowed, other string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	allowed, other = filepath.Join(top, "allowed"), filepath.Join(top, "other")
	require.NoError(t, os.MkdirAll(filepath.Join(allowed, "below"), 0o700))
	require.NoError(t, os.MkdirAll(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(allowed, "a.png"), nil, 0o600))
	for name, target := range map[string]string{
		"out": other, "in": filepath.Join(allowed, "below"), "dangling": filepath.Join(other, "later"), "loop": filepath.Join(allowed, "loop"),
	} {
		if err := os.Symlink(target, filepath.Join(allowed, name)); err != nil {
			t.Skip("cannot create a link: ", err)
		}
		if _, err := os.Lstat(filepath.Join(allowed, name)); err != nil {
			t.Skip("wine makes no symbolic links")
		}
	}
	return allowed, other
}

// Apply refuses each field that grants a right, for the zero value and for a value that allows something else. It
// accepts the field with the value that allows it.
func TestApply(t *testing.T) {
	dir, other := makeDirs(t)
	for _, test := range []struct {
		name    string
		allowed permit.Permissions
		set     func(*call.Request)
		field   string // the field that the zero value refuses, if any
	}{
		{"a question", permit.Permissions{}, func(*call.Request) {}, ""},
		{"all that narrows", permit.Permissions{}, func(r *call.Request) {
			r.Schema, r.Metadata = json.RawMessage(`{}`), map[string]string{"a": "b"}
			r.Options = call.Options{
				MaxTurns: 1, MaxBudgetUSD: 1, DisallowedTools: []string{"Bash"}, SystemMode: call.SystemReplace,
				AppendSystem: "a", StrictMCP: true, Effort: "high", NoSessionPersistence: true, FallbackModel: "b",
			}
			r.Model = "any"
		}, ""},
		{"access", permit.Permissions{Access: call.AccessRead, Dirs: []string{dir}}, func(r *call.Request) { r.Access, r.Dir = call.AccessRead, dir }, "access"},
		{"a session", permit.Permissions{Sessions: true}, func(r *call.Request) { r.Session = "claude:1" }, "session"},
		{"continue", permit.Permissions{Sessions: true}, func(r *call.Request) { r.Options.Continue = true }, "options.continue"},
		{"a session's id", permit.Permissions{Sessions: true}, func(r *call.Request) { r.Options.SessionID = "1" }, "options.session_id"},
		{"a directory", permit.Permissions{Dirs: []string{dir}}, func(r *call.Request) { r.Dir = dir }, "dir"},
		{"more directories", permit.Permissions{Dirs: []string{other, dir}}, func(r *call.Request) { r.Options.AddDirs = []string{filepath.Join(dir, "below")} }, "options.add_dirs[0]"},
		{"an image", permit.Permissions{Dirs: []string{dir}}, func(r *call.Request) { r.Options.Images = []string{filepath.Join(dir, "a.png")} }, "options.images[0]"},
		{"a tool", permit.Permissions{Tools: []string{"Read", "Bash(go test)"}}, func(r *call.Request) { r.Options.AllowedTools = []string{"Read", "Bash(go test)"} }, "options.allowed_tools[0]"},
		{"a mode", permit.Permissions{Modes: []string{"plan"}}, func(r *call.Request) { r.Options.PermissionMode = "plan" }, "options.permission_mode"},
		{"MCP servers", permit.Permissions{MCP: true}, func(r *call.Request) { r.Options.MCPConfig = []json.RawMessage{[]byte(`{}`)} }, "options.mcp_config"},
		{"agents", permit.Permissions{Agents: true}, func(r *call.Request) { r.Options.Agents = json.RawMessage(`{}`) }, "options.agents"},
		{"an argument", permit.Permissions{Extra: map[string][]string{"claude": {"--chrome"}}}, func(r *call.Request) { r.Options.Extra = map[string][]string{"claude": {"--chrome"}} }, "options.extra.claude[0]"},
		{"a variable", permit.Permissions{Env: []string{"APP_*"}}, func(r *call.Request) { r.Env = map[string]string{"APP_ID": "7"} }, "env.APP_ID"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := call.Prompt("hi")
			test.set(&req)
			got, err := test.allowed.Apply(req)
			require.NoError(t, err)
			require.Equal(t, req, got)

			got, err = permit.Permissions{}.Apply(req)
			if test.field == "" {
				require.NoError(t, err)
				return
			}
			refused(t, test.field, err)
			require.Equal(t, call.Request{}, got, "whoever overlooks the error asks nothing")
		})
	}
}

func refused(t *testing.T, field string, err error) {
	t.Helper()
	require.ErrorIs(t, err, call.ErrPermissionRefused)
	var failed *call.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, field, failed.Option)
	require.NotEmpty(t, failed.Advice)
}

// Apply refuses values slightly beyond a permission.
func TestApplyRefuses(t *testing.T) {
	dir, other := makeDirs(t)
	full := permit.Permissions{
		Access: call.AccessWrite, Dirs: []string{dir}, Extra: map[string][]string{"claude": {"--chrome"}}, Env: []string{"APP_*", "ONE"},
		Models: []string{"haiku", "codex/*"}, Tools: []string{"Read", "mcp__a__*"}, Modes: []string{"plan"}, Billing: call.BillingSubscription, MaxBytes: 2000,
		Sessions: true,
	}
	for name, test := range map[string]struct {
		field string
		set   func(*call.Request)
	}{
		"higher access":                          {"access", func(r *call.Request) { r.Access = call.AccessFull }},
		"unknown access":                         {"", func(r *call.Request) { r.Access = 9 }},
		"parent directory":                       {"dir", func(r *call.Request) { r.Access, r.Dir = 1, filepath.Dir(dir) }},
		"directory with the same prefix":         {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"x" }},
		"path with dots to another directory":    {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/below/../../other" }},
		"link to another directory":              {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/out" }},
		"path below a link to another directory": {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/out/new" }},
		"dangling link":                          {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/dangling" }},
		"path below a dangling link":             {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/dangling/x" }},
		"link to itself":                         {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/loop" }},
		"path below a file":                      {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/a.png/x" }},
		"NUL in a path":                          {"dir", func(r *call.Request) { r.Access, r.Dir = 1, dir+"/a\x00b" }},
		"session without a directory":            {"dir", func(r *call.Request) { r.Access, r.Session = 1, "claude:1" }},
		"second directory":                       {"options.add_dirs[1]", func(r *call.Request) { r.Options.AddDirs = []string{dir, other} }},
		"image in another directory":             {"options.images[0]", func(r *call.Request) { r.Options.Images = []string{dir + "/out/a.png"} }},
		"another argument":                       {"options.extra.claude[1]", func(r *call.Request) { r.Options.Extra = map[string][]string{"claude": {"--chrome", "--chrome=1"}} }},
		"argument of another backend":            {"options.extra.codex[0]", func(r *call.Request) { r.Options.Extra = map[string][]string{"codex": {"--chrome"}} }},
		"prefix of a variable":                   {"env.APP", func(r *call.Request) { r.Env = map[string]string{"APP": ""} }},
		"variable with an allowed prefix":        {"env.ONE_", func(r *call.Request) { r.Env = map[string]string{"ONE_": "", "ONE": ""} }},
		"another model":                          {"model", func(r *call.Request) { r.Model = "opus" }},
		"another fallback model":                 {"options.fallback_model", func(r *call.Request) { r.Model, r.Options.FallbackModel = "haiku", "opus" }},
		"another tool":                           {"options.allowed_tools[0]", func(r *call.Request) { r.Options.AllowedTools = []string{"Read(*"} }},
		"two tools in one entry":                 {"options.allowed_tools[0]", func(r *call.Request) { r.Options.AllowedTools = []string{"mcp__a__b Bash"} }},
		"another mode":                           {"options.permission_mode", func(r *call.Request) { r.Options.PermissionMode = "Plan" }},
		"another payer":                          {"billing", func(r *call.Request) { r.Billing = call.BillingAPIKey }},
		"too large request":                      {"", func(r *call.Request) { r.Metadata = map[string]string{"a": strings.Repeat("x", 2000)} }},
		"invalid JSON":                           {"", func(r *call.Request) { r.Schema = json.RawMessage(`{`) }},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("hi")
			test.set(&req)
			_, err := full.Apply(req)
			var failed *call.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, test.field, failed.Option)
			require.Contains(t, []call.Reason{call.ReasonPermissionRefused, call.ReasonBadRequest}, failed.Reason)
		})
	}
}

// Apply sets the omitted fields of a request, and replaces its paths with absolute paths without links.
func TestApplyDefaults(t *testing.T) {
	dir, other := makeDirs(t)
	p := permit.Permissions{Access: call.AccessWrite, Dirs: []string{dir, other}, Billing: call.BillingSubscription}
	req := call.Prompt("hi")
	req.Access = call.AccessWrite
	got, err := p.Apply(req)
	require.NoError(t, err)
	require.Equal(t, dir, got.Dir)
	require.Equal(t, call.BillingSubscription, got.Billing)

	given := []string{filepath.Join(dir, "out"), filepath.Join(dir, "not-yet", "there")}
	req.Dir, req.Options.AddDirs = filepath.Join(dir, "in"), given
	got, err = p.Apply(req)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "below"), got.Dir, "the path has no links")
	require.Equal(t, []string{other, filepath.Join(dir, "not-yet", "there")}, got.Options.AddDirs)
	require.Equal(t, filepath.Join(dir, "out"), given[0], "the caller's request is unchanged")

	t.Chdir(dir)
	p.Dirs = nil
	req.Dir, req.Options.AddDirs = "below", nil
	got, err = p.Apply(req)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "below"), got.Dir)
	req.Dir = ".."
	_, err = p.Apply(req)
	refused(t, "dir", err)
}

// An error contains no value that may be a secret, and is at most one line.
func TestRefusalsHideSecrets(t *testing.T) {
	secret := strings.Repeat("s3cr3t", 4)
	for field, set := range map[string]func(*call.Request){
		"options.extra.codex[0]": func(r *call.Request) { r.Options.Extra = map[string][]string{"codex": {"--key=" + secret}} },
		"env.TOKEN":              func(r *call.Request) { r.Env = map[string]string{"TOKEN": secret} },
		"options.mcp_config":     func(r *call.Request) { r.Options.MCPConfig = []json.RawMessage{[]byte(`"` + secret + `"`)} },
		"options.agents":         func(r *call.Request) { r.Options.Agents = json.RawMessage(`{"a":"` + secret + `"}`) },
		"session":                func(r *call.Request) { r.Session = "claude:" + secret },
	} {
		req := call.Prompt("hi")
		set(&req)
		_, err := permit.Permissions{}.Apply(req)
		refused(t, field, err)
		require.NotContains(t, err.Error(), secret)
	}
	req := call.Prompt("hi")
	req.Options.AllowedTools = []string{strings.Repeat("x\n", 1<<20)}
	_, err := permit.Permissions{}.Apply(req)
	require.Less(t, len(err.Error()), 300)
	require.NotContains(t, err.Error(), "\n")
}

// The size of a request is that of its JSON, without the escapes for HTML.
func TestApplySize(t *testing.T) {
	req := call.Prompt(strings.Repeat("<", 1000))
	text, err := json.Marshal(call.Prompt(""))
	require.NoError(t, err)
	size := int64(len(text) + 1000 + 1)
	_, err = permit.Permissions{MaxBytes: size}.Apply(req)
	require.NoError(t, err)
	_, err = permit.Permissions{MaxBytes: size - 1}.Apply(req)
	refused(t, "", err)
	_, err = permit.Permissions{}.Apply(call.Prompt(strings.Repeat("x", 16<<20)))
	refused(t, "", err)
	_, err = permit.Permissions{MaxBytes: -1}.Apply(call.Prompt(strings.Repeat("x", 16<<20)))
	require.NoError(t, err)
}

func TestDescribe(t *testing.T) {
	req := call.Prompt("hi")
	require.Equal(t, []string{`access "none"`}, permit.Describe(req))
	req.Access, req.Dir, req.Session, req.Env = call.AccessWrite, "/srv", "claude:1", map[string]string{"B": "1", "A": "2"}
	req.Options = call.Options{
		AllowedTools: []string{"Bash"}, Extra: map[string][]string{"codex": {"--key=1"}}, MCPConfig: []json.RawMessage{[]byte(`{}`)},
	}
	require.Equal(t, []string{
		`access "write"`, `session`, `dir "/srv"`, `options.allowed_tools "Bash"`, `options.mcp_config`,
		`options.extra.codex "--key=…"`, `env "A"`, `env "B"`,
	}, permit.Describe(req))
}
