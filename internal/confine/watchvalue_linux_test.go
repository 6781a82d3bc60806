package confine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// Only the watched values of a JSON file count, not those that a CLI changes in each run.
func TestWatchValues(t *testing.T) {
	const before = `{"starts":1,"servers":{"a":{"command":"x"}},"none":{}}`
	for _, test := range []struct{ name, after, want string }{
		{"other value", `{"starts":2,"servers":{"a":{"command":"x"}},"none":null}`, ""},
		{"other blanks", `{ "servers" : {"a": {"command":"x"} } }`, ""},
		{"changed value", `{"servers":{"a":{"command":"y"}}}`, "the run changed %s (servers), which acts"},
		{"removed value", `{"servers":{}}`, "the run removed %s (servers), which acts"},
		{"new value", `{"servers":{"a":{"command":"x"}},"none":{"b":1}}`, "the run created %s (none), which acts"},
		{"no JSON", `no`, "the run removed %s (servers), which acts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, ".agent.json")
			put(t, path, before)
			w := Watch(Input{Access: call.AccessNone, Env: []string{"HOME=" + home}, Dir: "/", Spec: &clispec.Spec{
				Confine: clispec.ConfineRules{State: []clispec.StatePath{
					{Path: "~/.agent.json", File: true, Watch: []string{"servers", "none"}},
				}},
			}})
			put(t, path, test.after)
			requireWarning(t, w.Changed(), test.want, path)
		})
	}
}

func requireWarning(t *testing.T, got []string, want, path string) {
	t.Helper()
	if want == "" {
		require.Empty(t, got)
		return
	}
	require.Len(t, got, 1)
	before, after, _ := strings.Cut(want, "%s")
	require.Contains(t, got[0], before+path+after)
}

// A new JSON file without values cannot run code.
func TestWatchBlankFile(t *testing.T) {
	in, base := watchedInput(t, call.AccessNone)
	w := Watch(in)
	put(t, filepath.Join(base, "home/.agent/hooks/a.json"), "{}\n")
	require.Empty(t, w.Changed())
	put(t, filepath.Join(base, "home/.agent/hooks/start"), "{}")
	require.Len(t, w.Changed(), 1, "an existing file became blank")
}

// Servers of the user and of a project start at the next start of claude. A new project has none.
func TestWatchClaude(t *testing.T) {
	spec := specs.Claude()
	for _, test := range []struct{ name, after, want string }{
		{"new project", `{"projects":{"/a":{"mcpServers":{}},"/b":{"mcpServers":{},"cost":1}},"numStartups":2}`, ""},
		{"server of the user", `{"mcpServers":{"s":{"command":"x"}}}`, "%s (mcpServers)"},
		{"server of a project", `{"projects":{"/a":{"mcpServers":{"s":{"command":"x"}}}}}`, "%s (projects"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, ".claude.json")
			put(t, path, `{"projects":{"/a":{}}}`)
			env := []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + home}
			w := Watch(Input{Access: call.AccessNone, Env: env, Dir: "/", Spec: &spec})
			put(t, path, test.after)
			requireWarning(t, w.Changed(), test.want, path)
		})
	}
}
