package compose

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/specs"
)

var (
	allAccess     = []call.Access{call.AccessNone, call.AccessRead, call.AccessWrite, call.AccessFull}
	allOutputs    = []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText}
	allTransports = []clispec.Transport{clispec.TransportStdin, clispec.TransportArgv}
)

// testHost returns a machine with only the state that the test sets.
func testHost() Host {
	return Host{
		Path: "/opt/bin/cli", Dir: "/home/user/project", RealDir: "/home/user/project", TempDir: "/tmp/clichain-test",
		Known: &session.Record{Dir: "/home/user/project"}, RequestEnv: []string{"CHAT_ID", "JOB"},
	}
}

func composerOf(t testing.TB, spec clispec.Spec) *Composer {
	t.Helper()
	require.NoError(t, spec.Validate())
	return New(&spec, nil)
}

// goldenCase is one request of the golden files.
type goldenCase struct {
	name   string
	choice Choice
	root   bool
	req    call.Request
}

// matrix returns every combination of access, output and transport.
func matrix() (cases []goldenCase) {
	withSystem := []call.Message{{Role: call.RoleSystem, Content: "Be brief."}, {Role: call.RoleUser, Content: "Hello"}}
	for _, variant := range []struct {
		name     string
		messages []call.Message
	}{{"plain", withSystem[1:]}, {"system", withSystem}} {
		for _, access := range allAccess {
			for _, output := range allOutputs {
				for _, transport := range allTransports {
					cases = append(cases, goldenCase{
						name:   fmt.Sprintf("%s access=%s output=%s transport=%s", variant.name, access, output, transport),
						choice: Choice{Output: output, Transport: transport},
						req:    call.Request{Messages: variant.messages, Access: access},
					})
				}
			}
		}
	}
	return cases
}

// goldenModels maps each backend to one of its models.
var goldenModels = map[string]string{
	"claude": "opus", "gemini": "gemini-2.5-pro", "cursor-agent": "auto", "opencode": "openai/gpt-5", "codex": "gpt-5-codex",
	"copilot": "claude-sonnet-5", "kimi": "kimi-code/kimi-for-coding", "pi": "anthropic/claude-sonnet-5", "kilo": "openai/gpt-5", "cline": "anthropic/claude-sonnet-5",
	"qwen": "qwen3-coder-plus", "agy": "gemini-3-pro",
}

// goldenSession returns a session of the backend.
func goldenSession(name string) string {
	h := session.Handle{Backend: name, ID: "0199abcd-0000-7000-8000-000000000001"}
	switch name {
	case "opencode", "kilo":
		h.ID = "ses_0199abcd"
	case "kimi":
		h.ID = "session_" + h.ID
	}
	return h.String()
}

// variations returns requests with one field set, at every access level, in the first output mode and transport of the
// spec.
func variations(name string) (cases []goldenCase) {
	for _, variation := range []struct {
		name string
		root bool
		set  func(*call.Request)
	}{
		{"model", false, func(r *call.Request) { r.Model = goldenModels[name] }},
		{"session", false, func(r *call.Request) { r.Session = goldenSession(name) }},
		{"session_id", false, func(r *call.Request) { r.Options.SessionID = "0199abcd-0000-7000-8000-000000000001" }},
		{"continue", false, func(r *call.Request) { r.Options.Continue = true }},
		{"schema", false, func(r *call.Request) { r.Schema = []byte(`{"type":"object"}`) }},
		{"max_turns", false, func(r *call.Request) { r.Options.MaxTurns = 3 }},
		{"max_budget_usd", false, func(r *call.Request) { r.Options.MaxBudgetUSD = 0.25 }},
		{"allowed_tools", false, func(r *call.Request) { r.Options.AllowedTools = []string{"Read", "Bash(git log:*)"} }},
		{"allowed_tools that read", false, func(r *call.Request) { r.Options.AllowedTools = readTools[name] }},
		{"disallowed_tools", false, func(r *call.Request) { r.Options.DisallowedTools = []string{"WebFetch"} }},
		{"effort", false, func(r *call.Request) { r.Options.Effort = "high" }},
		{"permission_mode", false, func(r *call.Request) { r.Options.PermissionMode = "plan" }},
		{"permission_mode that bypasses", false, func(r *call.Request) { r.Options.PermissionMode = bypassModes[name] }},
		{"system_mode append", false, func(r *call.Request) { withSystemMode(r, call.SystemAppend) }},
		{"system_mode replace", false, func(r *call.Request) { withSystemMode(r, call.SystemReplace) }},
		{"append_system", false, func(r *call.Request) { r.Options.AppendSystem = "Count beetles." }},
		{"append_system to one of the caller's", false, func(r *call.Request) {
			withSystemMode(r, call.SystemReplace)
			r.Options.AppendSystem = "Count beetles."
		}},
		{"mcp_config", false, func(r *call.Request) { r.Options.MCPConfig = goldenMCP() }},
		{"strict_mcp", false, func(r *call.Request) { r.Options.StrictMCP = true }},
		{"fallback_model", false, func(r *call.Request) { r.Options.FallbackModel = "haiku" }},
		{"agents", false, func(r *call.Request) { r.Options.Agents = []byte(`{"a":{"description":"d","prompt":"p"}}`) }},
		{"no_session_persistence", false, func(r *call.Request) { r.Options.NoSessionPersistence = true }},
		{"no_session_persistence of a session", false, func(r *call.Request) {
			r.Options.NoSessionPersistence, r.Session = true, goldenSession(name)
		}},
		{"add_dirs", false, func(r *call.Request) { r.Options.AddDirs = []string{"/data/a", "/data/b"} }},
		{"images", false, func(r *call.Request) { r.Options.Images = []string{"/data/a.png", "/data/b.png"} }},
		{"extra", false, func(r *call.Request) {
			r.Options.Extra = map[string][]string{name: {"--debug", "x"}, "other": {"-y"}}
		}},
		{"env", false, func(r *call.Request) { r.Env = map[string]string{"CHAT_ID": "7", "JOB": "a b"} }},
		{"as root", true, func(*call.Request) {}},
		{"conversation", false, func(r *call.Request) {
			r.Messages = []call.Message{{Role: call.RoleUser, Content: "Hi"}, {Role: call.RoleAssistant, Content: "Hello."}, {Role: call.RoleUser, Content: "/clear?"}}
		}},
		{"slash command", false, func(r *call.Request) { r.Messages[0].Content = "/clear" }},
	} {
		for _, access := range allAccess {
			req := call.Prompt("Hello")
			req.Access = access
			variation.set(&req)
			cases = append(cases, goldenCase{name: fmt.Sprintf("%s access=%s", variation.name, access), root: variation.root, req: req})
		}
	}
	return cases
}

// readTools maps each CLI to its tools that only read.
var readTools = map[string][]string{
	"claude": {"Read", "Glob"}, "gemini": {"read_file", "glob"}, "opencode": {"read"}, "codex": {"any"}, "cursor-agent": {"any"},
	"copilot": {"view", "glob"}, "kimi": {"Read"}, "pi": {"read", "ls"}, "kilo": {"read"}, "cline": {"any"},
	"qwen": {"read_file", "glob"}, "agy": {"any"},
}

// bypassModes maps each CLI to its permission mode without limits.
var bypassModes = map[string]string{
	"claude": "bypassPermissions", "codex": "danger-full-access", "gemini": "yolo", "opencode": "any", "cursor-agent": "any",
	"copilot": "any", "kimi": "any", "pi": "any", "kilo": "any", "cline": "any",
	"qwen": "yolo", "agy": "any",
}

func withSystemMode(r *call.Request, mode call.SystemMode) {
	r.Options.SystemMode = mode
	r.Messages = append([]call.Message{{Role: call.RoleSystem, Content: "Be brief."}}, r.Messages...)
}

func goldenMCP() []json.RawMessage {
	return []json.RawMessage{
		json.RawMessage(`{"mcpServers":{"probe":{"command":"probe","args":["--fast"]}}}`),
		json.RawMessage(`{"mcpServers":{"far":{"url":"https://mcp.example.com"}}}`),
	}
}

func TestComposeGolden(t *testing.T) {
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			engine := composerOf(t, spec)
			var b strings.Builder
			for _, c := range append(matrix(), variations(spec.Name)...) {
				host := testHost()
				host.Root = c.root
				inv, err := engine.Compose(c.req, c.choice, host)
				fmt.Fprintf(&b, "=== %s\n", c.name)
				if err != nil {
					fmt.Fprintf(&b, "error %v\n", err)
					continue
				}
				describe(&b, spec, inv)
			}
			goldenText(t, filepath.Join("testdata", "golden", "compose", spec.Name+".txt"), b.String())
		})
	}
}

// describe writes one invocation to a golden file.
func describe(b *strings.Builder, spec clispec.Spec, inv *Invocation) {
	for _, arg := range inv.Args {
		fmt.Fprintf(b, "%q\n", arg)
	}
	for _, kv := range inv.Env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(spec.Env, func(row clispec.EnvRow) bool { return row.Name == name }) {
			fmt.Fprintf(b, "env %s %q\n", name, value)
		}
	}
	for _, f := range inv.Files {
		fmt.Fprintf(b, "file %s %q\n", f.Path, f.Content)
	}
	if inv.Empty {
		fmt.Fprintf(b, "empty directory %s\n", strings.Join(append([]string{inv.Dir}, inv.Guards...), ", "))
	}
	if inv.Stdin != nil {
		fmt.Fprintf(b, "stdin %q\n", inv.Stdin)
	}
}

func goldenText(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, string(want), got)
}
