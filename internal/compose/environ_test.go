package compose

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// sharedEnviron is the environment of a machine that many programs share.
var sharedEnviron = []string{
	"PATH=/bin", "HOME=/home/u", "LC_ALL=C", "XDG_CONFIG_HOME=/x", "https_proxy=http://proxy",
	"TERM=xterm-256color", "PWD=/somewhere", "EMPTY=", "NO_EQUALS",
	"DATABASE_URL=foreign", "STRIPE_KEY=foreign", "VAULT_ADDR=foreign", "LD_PRELOAD=foreign", "NODE_OPTIONS=foreign",
	"ANTHROPIC_API_KEY=own-claude", "GEMINI_CLI_HOME=own-gemini", "CURSOR_API_KEY=own-cursor", "CODEX_HOME=own-codex", "OPENCODE_API_KEY=own-opencode",
	"COPILOT_HOME=own-copilot", "KIMI_SHARE_DIR=own-kimi", "PI_CODING_AGENT_DIR=own-pi", "KILO_API_KEY=own-kilo", "DASHSCOPE_API_KEY=own-qwen", "AGY_HOME=own-agy", "CLINE_DIR=own-cline",
	"AWS_SECRET_ACCESS_KEY=foreign", "AZURE_API_KEY=foreign", "GOOGLE_APPLICATION_CREDENTIALS=foreign", "GITHUB_TOKEN=foreign", "BASH_ENV=foreign",
	"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SSE_PORT=1", "GEMINI_CLI=1", "CURSOR_AGENT=1", "OPENCODE_PID=1", "CODEX_SANDBOX=1",
	"COPILOT_CLI=1", "PI_CODING_AGENT=1", "KILO_PID=1", "QWEN_CODE=1",
}

// marks lists the variables of an outer agent's session.
var marks = []string{
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE_PID", "CODEX_SANDBOX",
	"COPILOT_CLI", "PI_CODING_AGENT", "KILO_PID", "QWEN_CODE",
}

func environOf(t *testing.T, spec clispec.Spec, change func(*Host)) map[string]string {
	t.Helper()
	host := testHost()
	host.Environ = sharedEnviron
	change(&host)
	inv, err := composerOf(t, spec).Compose(call.Prompt("P"), Choice{}, host)
	require.Nil(t, err)
	require.True(t, slices.IsSorted(inv.Env))
	vars := map[string]string{}
	for _, kv := range inv.Env {
		name, value, ok := strings.Cut(kv, "=")
		require.True(t, ok, kv)
		require.NotContains(t, vars, name, "twice")
		vars[name] = value
	}
	return vars
}

func TestEnvironIsAnAllowList(t *testing.T) {
	own := map[string]string{
		"claude": "ANTHROPIC_API_KEY", "gemini": "GEMINI_CLI_HOME", "cursor-agent": "CURSOR_API_KEY", "codex": "CODEX_HOME", "opencode": "OPENCODE_API_KEY",
		"copilot": "COPILOT_HOME", "kimi": "KIMI_SHARE_DIR", "pi": "PI_CODING_AGENT_DIR", "kilo": "KILO_API_KEY", "cline": "CLINE_DIR", "qwen": "DASHSCOPE_API_KEY", "agy": "AGY_HOME",
	}
	passed := map[string]string{"copilot": "GITHUB_TOKEN"} // the variable of its login

	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			vars := environOf(t, spec, func(*Host) {})
			for name, want := range map[string]string{"PATH": "/bin", "HOME": "/home/u", "LC_ALL": "C", "XDG_CONFIG_HOME": "/x", "https_proxy": "http://proxy"} {
				require.Equal(t, want, vars[name], name)
			}
			require.Contains(t, vars, own[spec.Name])
			for name, value := range vars {
				require.True(t, value != "foreign" || name == passed[spec.Name], name)
			}
			for _, mark := range marks {
				require.NotContains(t, vars, mark)
			}
			for other, name := range own {
				require.Equal(t, other == spec.Name, vars[name] != "", name)
			}
		})
	}
}

func TestEnvironIsQuiet(t *testing.T) {
	for _, inherit := range []bool{false, true} {
		vars := environOf(t, specs.Claude(), func(h *Host) { h.InheritEnv = inherit })
		require.Equal(t, "dumb", vars["TERM"])
		require.Equal(t, "1", vars["NO_COLOR"])
		require.Equal(t, "0", vars["GIT_TERMINAL_PROMPT"])
		require.Equal(t, "/home/user/project", vars["PWD"])
	}
}

func TestPassEnvPatterns(t *testing.T) {
	for _, test := range []struct {
		name string
		pass []string
		want []string
	}{
		{"nothing", nil, nil},
		{"a name", []string{"VAULT_ADDR"}, []string{"VAULT_ADDR"}},
		{"a prefix", []string{"STRIPE_*"}, []string{"STRIPE_KEY"}},
		{"name is not a prefix", []string{"STRIPE"}, nil},
		{"names are case-sensitive", []string{"vault_addr"}, nil},
		{"variable of an outer session", []string{"CLAUDECODE", "CLAUDE_CODE_*"}, nil},
		{"invalid pattern", []string{"[", ""}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := environOf(t, specs.Claude(), func(*Host) {})
			after := environOf(t, specs.Claude(), func(h *Host) { h.PassEnv = test.pass })
			var added []string
			for name := range after {
				if _, ok := before[name]; !ok {
					added = append(added, name)
				}
			}
			require.ElementsMatch(t, test.want, added)
		})
	}
}

func TestInheritEnv(t *testing.T) {
	for _, spec := range specs.Every() {
		vars := environOf(t, spec, func(h *Host) { h.InheritEnv = true })
		require.Equal(t, "foreign", vars["DATABASE_URL"])
		require.Equal(t, "", vars["EMPTY"])
		require.Contains(t, vars, "EMPTY")
		own := 0
		for _, drop := range spec.DropEnv {
			for name := range vars {
				if strings.HasPrefix(name, strings.TrimSuffix(drop, "*")) && !setsVariable(spec, name) {
					own++
				}
			}
		}
		require.Zero(t, own, "%s inherits what it must drop", spec.Name)
	}
}

func setsVariable(spec clispec.Spec, name string) bool {
	return slices.ContainsFunc(spec.Env, func(row clispec.EnvRow) bool { return row.Name == name })
}

func TestSpecRowsOverrideHostEnvironment(t *testing.T) {
	vars := environOf(t, specs.OpenCode(), func(h *Host) {
		h.Environ = []string{`OPENCODE_CONFIG_CONTENT={"permission":"allow"}`}
		h.InheritEnv = true
	})
	require.Contains(t, vars["OPENCODE_CONFIG_CONTENT"], `"tools":{"*":false}`)
	vars = environOf(t, specs.Claude(), func(h *Host) { h.Environ = []string{"CLAUDE_CODE_DISABLE_CLAUDE_MDS=0"} })
	require.Equal(t, "1", vars["CLAUDE_CODE_DISABLE_CLAUDE_MDS"])
}

func TestPreflight(t *testing.T) {
	for _, test := range []struct {
		name    string
		access  call.Access
		root    bool
		environ []string
		refused bool
	}{
		{"root with a bypass", call.AccessFull, true, nil, true},
		{"a user with a bypass", call.AccessFull, false, nil, false},
		{"root without a bypass", call.AccessWrite, true, nil, false},
		{"root in a sandbox", call.AccessFull, true, []string{"IS_SANDBOX=1"}, false},
		{"root in a sandbox with value true", call.AccessFull, true, []string{"IS_SANDBOX=true"}, false},
		{"no sandbox", call.AccessFull, true, []string{"IS_SANDBOX=0"}, true},
		{"sandbox variable with value false", call.AccessFull, true, []string{"IS_SANDBOX=False"}, true},
		{"empty sandbox variable", call.AccessFull, true, []string{"IS_SANDBOX="}, true},
		{"another variable", call.AccessFull, true, []string{"IS_SANDBOXED=1"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := testHost()
			host.Root, host.Environ = test.root, test.environ
			req := call.Prompt("P")
			req.Access = test.access
			_, err := composerOf(t, specs.Claude()).Compose(req, Choice{}, host)
			if !test.refused {
				require.Nil(t, err)
				return
			}
			require.ErrorIs(t, err, call.ErrPermissionRefused)
			require.Contains(t, err.Hint, "IS_SANDBOX=1")
		})
	}
}

func TestConfigEnvOverridesOtherVariables(t *testing.T) {
	vars := environOf(t, specs.Claude(), func(h *Host) {
		h.Env = []string{"HOME=/mine", "TERM=xterm", "MINE=1", "CLAUDE_CODE_SAFE_MODE=0", "EMPTY="}
	})
	require.Equal(t, "/mine", vars["HOME"])
	require.Equal(t, "xterm", vars["TERM"])
	require.Equal(t, "1", vars["MINE"])
	require.Equal(t, "0", vars["CLAUDE_CODE_SAFE_MODE"])
	require.Contains(t, vars, "EMPTY")
	require.Equal(t, "/bin", vars["PATH"])
}

func TestRowConditionOnVariable(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*Host)
		want bool
	}{
		{"not set", func(h *Host) { h.Environ = nil }, false},
		{"set", func(h *Host) { h.Environ = []string{"MINE_KEY=k"} }, true},
		{"other variable of the list", func(h *Host) { h.Environ = []string{"MINE_TOKEN=k"} }, true},
		{"a no", func(h *Host) { h.Environ = []string{"MINE_KEY=false"} }, false},
		{"empty", func(h *Host) { h.Environ = []string{"MINE_KEY="} }, false},
		{"set by the caller", func(h *Host) { h.Env = []string{"MINE_KEY=k"} }, true},
		{"set but not passed to the CLI", func(h *Host) { h.Environ = []string{"OTHER_KEY=k"} }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := clispec.Spec{
				Name: "mine", Binary: "mine", PassEnv: []string{"MINE_*"},
				Args: []clispec.ArgRow{{Args: []string{"--key"}, When: clispec.When{Env: []string{"MINE_KEY", "MINE_TOKEN", "OTHER_KEY"}}}, {Args: []string{"{prompt}"}}},
			}
			host := testHost()
			test.set(&host)
			inv, err := composerOf(t, spec).Compose(call.Prompt("P"), Choice{}, host)
			require.Nil(t, err)
			require.Equal(t, test.want, slices.Contains(inv.Args, "--key"))
		})
	}
}

// CLIs that support trace context receive the span, except for processes that answer many requests.
func TestEnvironContainsTraceContext(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	tells := map[string]bool{"claude": true, "codex": true}
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			inherit := func(h *Host) {
				h.Environ = append(slices.Clone(h.Environ), "TRACEPARENT=inherited", "TRACESTATE=inherited")
			}
			require.NotContains(t, environOf(t, spec, inherit), "TRACEPARENT")
			vars := environOf(t, spec, func(h *Host) { inherit(h); h.Trace, h.TraceState = parent, "a=b" })
			require.Equal(t, tells[spec.Name], vars["TRACEPARENT"] == parent)
			require.Equal(t, tells[spec.Name], vars["TRACESTATE"] == "a=b")
			vars = environOf(t, spec, func(h *Host) { inherit(h); h.InheritEnv, h.Trace = true, parent })
			require.Equal(t, tells[spec.Name], vars["TRACEPARENT"] == parent && vars["TRACESTATE"] == "", "no state of another span")
			if !spec.Live.Has() {
				return
			}
			host, held := testHost(), 0
			host.Trace = parent
			for _, access := range allAccess {
				req := call.Prompt("P")
				req.Access = access
				if inv, err := composerOf(t, spec).Compose(req, Choice{Output: clispec.OutputLive}, host); err == nil {
					held++
					require.NotContains(t, strings.Join(inv.Env, "\n"), "TRACE")
				}
			}
			require.True(t, held > 0 || !tells[spec.Name])
		})
	}
}
