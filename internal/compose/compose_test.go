package compose

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/specs"
)

func TestComposeRefusesBareArgumentWithDash(t *testing.T) {
	const prompt = "--help me"
	for _, spec := range specs.Every() {
		for _, transport := range allTransports {
			inv, err := composerOf(t, spec).Compose(call.Prompt(prompt), Choice{Transport: transport}, testHost())
			if err != nil {
				require.Equal(t, call.ReasonUnsupported, err.Reason)
				continue
			}
			at := slices.Index(inv.Args, prompt)
			require.True(t, at < 0 || slices.Contains(inv.Args[:at], "--"), "%s: %q", spec.Name, inv.Args)
		}
	}
}

func TestComposeIsPure(t *testing.T) {
	for _, spec := range specs.Every() {
		engine := composerOf(t, spec)
		for _, c := range append(matrix(), variations(spec.Name)...) {
			before, err := json.Marshal(c.req)
			require.NoError(t, err)
			host := testHost()
			host.Environ = []string{"PATH=/bin", "HOME=/root", "X=1"}
			first, firstErr := engine.Compose(c.req, c.choice, host)
			second, secondErr := engine.Compose(c.req, c.choice, host)
			require.Equal(t, first, second, c.name)
			require.Equal(t, firstErr, secondErr, c.name)
			after, err := json.Marshal(c.req)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), c.name)
			require.Equal(t, []string{"PATH=/bin", "HOME=/root", "X=1"}, host.Environ)
		}
		fresh, _ := specs.ByName(spec.Name)
		require.Equal(t, fresh, spec, "composing changed the spec")
	}
}

func TestSimpleSpecs(t *testing.T) {
	messages := []call.Message{{Role: call.RoleSystem, Content: "S"}, {Role: call.RoleUser, Content: "P"}}
	for _, test := range []struct {
		name string
		spec clispec.Spec
		req  call.Request
		want []string
	}{
		{"only a name and a binary", clispec.Spec{}, call.Prompt("P"), []string{"-p", "P"}},
		{"dash p", clispec.Spec{PromptStyle: clispec.DashP}, call.Prompt("P"), []string{"-p", "P"}},
		{"run subcommand", clispec.Spec{PromptStyle: clispec.RunSubcommand}, call.Prompt("P"), []string{"run", "P"}},
		{"system flag", clispec.Spec{SystemFlag: "--append-system-prompt"}, call.Request{Messages: messages, Model: "m"},
			[]string{"--append-system-prompt", "S", "--model", "m", "-p", "P"}},
		{"system flag of a subcommand", clispec.Spec{PromptStyle: clispec.RunSubcommand, SystemFlag: "-s"}, call.Request{Messages: messages},
			[]string{"run", "-s", "S", "P"}},
		{"no system flag", clispec.Spec{}, call.Request{Messages: messages}, []string{"-p", "SYSTEM: S\n\nP"}},
		{"default model", clispec.Spec{DefaultModel: "d"}, call.Request{Messages: messages[1:], Model: "d"}, []string{"-p", "P"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.spec.Name, test.spec.Binary = "mine", "mine"
			inv, err := composerOf(t, test.spec).Compose(test.req, Choice{}, testHost())
			require.Nil(t, err)
			require.Equal(t, test.want, inv.Args)
			require.Nil(t, inv.Stdin)
			require.Equal(t, "/opt/bin/cli", inv.Path)
			require.Equal(t, "/home/user/project", inv.Dir)
		})
	}
}

func TestSimpleSpecRefusesUnsupportedOptions(t *testing.T) {
	spec := clispec.Spec{Name: "mine", Binary: "mine"}
	for option, set := range map[string]func(*call.Request){
		"access":           func(r *call.Request) { r.Access = call.AccessRead },
		"session":          func(r *call.Request) { r.Session = session.Handle{Backend: "mine", ID: "1"}.String() },
		"max_turns":        func(r *call.Request) { r.Options.MaxTurns = 1 },
		"max_budget_usd":   func(r *call.Request) { r.Options.MaxBudgetUSD = 1 },
		"allowed_tools":    func(r *call.Request) { r.Options.AllowedTools = []string{"x"} },
		"disallowed_tools": func(r *call.Request) { r.Options.DisallowedTools = []string{"x"} },
		"effort":           func(r *call.Request) { r.Options.Effort = "high" },
		"permission_mode":  func(r *call.Request) { r.Options.PermissionMode = "plan" },
		"mcp_config":       func(r *call.Request) { r.Options.MCPConfig = goldenMCP() },
		"strict_mcp":       func(r *call.Request) { r.Options.StrictMCP = true },
		"fallback_model":   func(r *call.Request) { r.Options.FallbackModel = "m" },
		"agents":           func(r *call.Request) { r.Options.Agents = json.RawMessage(`{"a":{}}`) },
		"add_dirs":         func(r *call.Request) { r.Options.AddDirs = []string{"/x"} },
		"images":           func(r *call.Request) { r.Options.Images = []string{"/x"} },

		"no_session_persistence": func(r *call.Request) { r.Options.NoSessionPersistence = true },
		"options.system_mode":    func(r *call.Request) { withSystemMode(r, call.SystemReplace) },
	} {
		t.Run(option, func(t *testing.T) {
			req := call.Prompt("P")
			set(&req)
			_, err := composerOf(t, spec).Compose(req, Choice{}, testHost())
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Equal(t, option, err.Option)
		})
	}
}

func TestRowConditions(t *testing.T) {
	spec := clispec.Spec{
		Name: "mine", Binary: "mine",
		Files: []clispec.FileRow{{Field: "tools", Name: "tools.txt", Content: "{allowed_tools}", When: clispec.When{Set: []string{"allowed_tools"}}}},
		Args: []clispec.ArgRow{
			{Args: []string{"--file={tools_file}", "--json={effort:json}"}, When: clispec.When{Set: []string{"allowed_tools"}}},
			{Args: []string{"--no-tools"}, When: clispec.When{Unset: []string{"allowed_tools"}}},
			{Args: []string{"--tool", "{allowed_tools}", "--effort={effort}"}, Each: "allowed_tools"},
			{Args: []string{"--", "{prompt}"}},
		},
		Env: []clispec.EnvRow{{Name: "MINE_EFFORT", Value: "<{effort}>", When: clispec.When{Set: []string{"effort"}}}},
	}
	req := call.Prompt("-P")
	req.Options = call.Options{AllowedTools: []string{"a", "b"}, Effort: `"hi"`}
	inv, err := composerOf(t, spec).Compose(req, Choice{}, testHost())
	require.Nil(t, err)
	require.Equal(t, []string{
		"--file=/tmp/clichain-test/tools.txt", `--json="\"hi\""`,
		"--tool", "a", `--effort="hi"`, "--tool", "b", `--effort="hi"`, "--", "-P",
	}, inv.Args, "in a repeated row the other fields keep their values")
	require.Equal(t, []TempFile{{Field: "tools", Path: "/tmp/clichain-test/tools.txt", Content: "a,b"}}, inv.Files)
	require.Contains(t, inv.Env, `MINE_EFFORT=<"hi">`)

	inv, err = composerOf(t, spec).Compose(call.Prompt("P"), Choice{}, testHost())
	require.Nil(t, err)
	require.Equal(t, []string{"--no-tools", "--", "P"}, inv.Args)
	require.Empty(t, inv.Files)
}

// A CLI that finds a session only in one directory must not start in another directory, or if the directory is unknown.
func TestSessionsBoundToDirectory(t *testing.T) {
	const project = "/home/user/project"
	gemini, claude := goldenSession("gemini"), goldenSession("claude")
	const none, read = call.AccessNone, call.AccessRead
	made := func(dir string) *session.Record { return &session.Record{Dir: dir} }
	for _, test := range []struct {
		name, session, dir string
		access             call.Access
		known              *session.Record
		want               string // in the error; empty: none
	}{
		{"there", gemini, "", read, made(project), ""},
		{"same directory by another name", gemini, ".", read, made(project + "/x/.."), ""},
		{"elsewhere", gemini, "", read, made("/made/here"), "leave Dir empty"},
		{"other directory without access", gemini, "", none, made("/made/here"), "AccessRead"},
		{"unknown directory", gemini, "", read, nil, "set Dir"},
		{"directory known only to the caller", gemini, ".", read, nil, ""},
		{"unknown directory without access", gemini, "", none, nil, ""},
		{"no directory", gemini, "", read, made(""), ""},
		{"unbound session in another directory", claude, ".", read, made("/made/here"), ""},
		{"unbound session with unknown directory", claude, "", read, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, host := call.Prompt("P"), testHost()
			req.Session, req.Dir, req.Access, host.Known = test.session, test.dir, test.access, test.known
			name, _, _ := strings.Cut(test.session, ".")
			spec, ok := specs.ByName(name)
			require.True(t, ok)
			inv, err := composerOf(t, spec).Compose(req, Choice{}, host)
			if test.want == "" {
				require.Nil(t, err)
				require.Equal(t, project, inv.Dir)
				return
			}
			require.ErrorIs(t, err, call.ErrBadSession)
			require.Contains(t, err.Error(), test.want)
			require.Equal(t, "session", err.Option)
		})
	}
}

// A call without access works in an empty directory, which may contain only the guard files. The caller of this package
// chooses it, or leaves it to the call's own directory.
func TestEmptyDirectory(t *testing.T) {
	engine := composerOf(t, clispec.Spec{Name: "mine", Binary: "mine", GuardFiles: []string{".mine/.env"},
		Args: []clispec.ArgRow{{Args: []string{"-p", "{prompt}"}}, {Args: []string{"-r"}, When: clispec.When{Access: []call.Access{call.AccessRead}}}}})
	for _, test := range []struct {
		name, dir  string
		access     call.Access
		want, temp string
		empty      bool
	}{
		{"permanent directory", "/state/empty", call.AccessNone, "/state/empty", "", true},
		{"temporary directory", "", call.AccessNone, "/tmp/clichain-test/empty", "/tmp/clichain-test", true},
		{"with access", "/home/user/project", call.AccessRead, "/home/user/project", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := testHost()
			host.Dir = test.dir
			req := call.Prompt("P")
			req.Access = test.access
			inv, err := engine.Compose(req, Choice{}, host)
			require.Nil(t, err)
			require.Equal(t, test.want, inv.Dir)
			require.Equal(t, test.temp, inv.Temp)
			require.Contains(t, inv.Env, "PWD="+test.want)
			require.Equal(t, test.empty, inv.Empty)
			require.Equal(t, test.empty, len(inv.Guards) == 1)
		})
	}
}

// An untrusted directory must not contain configuration files of the CLI. Rows can depend on the trust.
func TestTrustedDirectory(t *testing.T) {
	untrusted := clispec.When{Unset: []string{"trust_dir"}}
	engine := composerOf(t, clispec.Spec{Name: "mine", Binary: "mine", FolderFiles: []string{"./.mine"},
		Args: []clispec.ArgRow{{Args: []string{"--ignore-folder"}, When: untrusted}, {Args: []string{"-p", "{prompt}"}},
			{Args: []string{"--tools"}, When: clispec.When{Access: allAccess[1:]}}}})
	for _, test := range []struct {
		name     string
		trust    bool
		access   call.Access
		ignores  bool
		unwanted []string
	}{
		{"none", false, call.AccessNone, true, nil},
		{"no access with trust", true, call.AccessNone, true, nil},
		{"read", false, call.AccessRead, true, []string{"./.mine"}},
		{"write", false, call.AccessWrite, true, []string{"./.mine"}},
		{"read, trusted", true, call.AccessRead, false, nil},
		{"write, trusted", true, call.AccessWrite, false, nil},
		{"full trusts", false, call.AccessFull, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := testHost()
			host.TrustDir = test.trust
			req := call.Prompt("P")
			req.Access = test.access
			inv, err := engine.Compose(req, Choice{}, host)
			require.Nil(t, err)
			require.Equal(t, test.ignores, slices.Contains(inv.Args, "--ignore-folder"))
			require.Equal(t, test.unwanted, inv.Unwanted)
		})
	}
}

func TestComposeErrorIsABackendError(t *testing.T) {
	_, err := composerOf(t, specs.Codex()).Compose(call.Prompt("P"), Choice{Output: clispec.OutputJSON}, testHost())
	found, ok := errors.AsType[*call.Error](err)
	require.True(t, ok)
	require.Equal(t, "output", found.Option)
	require.Equal(t, -1, found.ExitCode)
	require.True(t, reflect.DeepEqual(found, err))
}
