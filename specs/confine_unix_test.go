//go:build unix

package specs_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/specs"
)

// resolve returns the paths of a home with these variables.
func resolve(t *testing.T, vars map[string]string, templates ...string) (paths []string) {
	t.Helper()
	for _, text := range templates {
		template, err := grammar.ReadPath(text)
		require.NoError(t, err, text)
		found, ok := template.Paths(grammar.Place{Vars: vars, Home: "/home/u", Dir: "/work"})
		require.True(t, ok, text)
		paths = append(paths, found...)
	}
	return paths
}

func stateOf(spec clispec.Spec) (templates []string) {
	for _, state := range spec.Confine.State {
		templates = append(templates, state.Path)
	}
	return templates
}

// A variable that moves the home of a CLI moves its state.
func TestStateFollowsVariables(t *testing.T) {
	for _, test := range []struct {
		name, vars string
		want       []string
	}{
		{"claude", "", []string{"/home/u/.claude", "/home/u/.config/anthropic"}},
		{"claude", "CLAUDE_CONFIG_DIR=/w ANTHROPIC_CONFIG_DIR=/a", []string{"/w", "/w/.claude.json", "/a"}},
		{"codex", "", []string{"/home/u/.codex"}},
		{"codex", "CODEX_HOME=/w CODEX_SQLITE_HOME=/db", []string{"/w", "/db"}},
		{"gemini", "", []string{"/home/u/.gemini"}},
		{"gemini", "GEMINI_CLI_HOME=/w", []string{"/w/.gemini"}},
		{"opencode", "", []string{"/home/u/.config/opencode", "/home/u/.local/share/opencode", "/home/u/.local/state/opencode", "/home/u/.cache/opencode"}},
		{"opencode", "XDG_CONFIG_HOME=/c XDG_DATA_HOME=/d XDG_STATE_HOME=/s XDG_CACHE_HOME=/k OPENCODE_CONFIG_DIR=/o", []string{"/c/opencode", "/d/opencode", "/s/opencode", "/k/opencode", "/o"}},
		{"copilot", "COPILOT_HOME=/w XDG_CACHE_HOME=/k", []string{"/w", "/home/u/.cache/copilot", "/k/copilot"}},
		{"kimi", "KIMI_CODE_HOME=/w", []string{"/w"}},
		{"pi", "PI_CODING_AGENT_DIR=/w", []string{"/w"}},
		{"kilo", "XDG_STATE_HOME=/s", []string{"/home/u/.config/kilo", "/home/u/.local/share/kilo", "/s/kilo", "/home/u/.cache/kilo", "/s/kilo-sandbox-policy", "/s/kilo-sandbox-preference"}},
		{"cline", "CLINE_DATA_DIR=/w", []string{"/home/u/.cline", "/w"}},
		{"qwen", "QWEN_HOME=/w", []string{"/w"}},
	} {
		t.Run(test.name+" "+test.vars, func(t *testing.T) {
			spec, ok := specs.ByName(test.name)
			require.True(t, ok)
			vars := map[string]string{}
			grammar.SetAll(vars, strings.Fields(test.vars))
			require.Equal(t, test.want, resolve(t, vars, stateOf(spec)...))
		})
	}
}

// An instance in a file keeps its state in the home that it sets.
func TestStateOfInstance(t *testing.T) {
	list, err := specs.Load(strings.NewReader("instance_of: claude\nname: work\nset_env: {CLAUDE_CONFIG_DIR: ~/.claude-work}\n"))
	require.NoError(t, err)
	value, err := grammar.ReadValue(list[0].SetEnv["CLAUDE_CONFIG_DIR"])
	require.NoError(t, err)
	dir, err := value.Value(grammar.Place{Home: "/home/u"})
	require.NoError(t, err)
	got := resolve(t, map[string]string{"CLAUDE_CONFIG_DIR": dir}, stateOf(list[0])...)
	require.Equal(t, []string{
		"/home/u/.claude-work", "/home/u/.claude-work/.claude.json", "/home/u/.config/anthropic",
	}, got)
}

// A confined CLI can use each login that a file of the user shows, and finds each file that its rules name.
func TestConfineCoversFacts(t *testing.T) {
	vars := map[string]string{}
	for _, spec := range specs.Every() {
		require.NotEmpty(t, spec.Confine.State, spec.Name)
		covered := resolve(t, vars, append(stateOf(spec), spec.Confine.Read...)...)
		facts := slices.Clone(spec.Trust)
		for _, way := range spec.Login.Ways {
			facts = append(facts, way.Files...)
		}
		for _, rule := range spec.PassEnvIf {
			facts = append(facts, rule.Files...)
		}
		for _, fact := range facts {
			if strings.HasPrefix(fact.Path, "./") {
				continue // in the working directory
			}
			for _, path := range resolve(t, vars, fact.Path) {
				below := func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
				if strings.HasPrefix(path, "/home/u/") {
					require.True(t, slices.ContainsFunc(covered, below), "%s: %s", spec.Name, path)
				}
			}
		}
	}
}

// The only CLI with a kernel sandbox that its spec turns on is codex.
func TestOwnConfinement(t *testing.T) {
	for _, spec := range specs.Every() {
		var want []call.Access
		if spec.Name == "codex" {
			want = []call.Access{call.AccessRead, call.AccessWrite}
		}
		require.Equal(t, want, spec.Confine.Own, spec.Name)
	}
}

// Watched paths are in the state, and contain no login, which a CLI renews by itself.
func TestWatchedFilesAreNoLogins(t *testing.T) {
	for _, spec := range specs.Every() {
		var logins []string
		for _, way := range spec.Login.Ways {
			for _, fact := range way.Files {
				if fact.Refresh != "" {
					logins = append(logins, resolve(t, nil, fact.Path)...)
				}
			}
		}
		for _, state := range spec.Confine.State {
			for _, dir := range resolve(t, nil, state.Path) {
				for _, file := range state.Watch {
					require.NotContains(t, logins, filepath.Join(dir, file), spec.Name)
				}
			}
		}
	}
}
