package conformance_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/live"
)

// inEachProcess runs a test with gemini in a new process and in a warm one.
func inEachProcess(t *testing.T, test func(t *testing.T, warm bool)) {
	for name, warm := range map[string]bool{"new": false, "warm": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, warm)
		})
	}
}

// backendOf returns the provider, or the backend of a pool of it.
func backendOf(t *testing.T, c *cli, warm bool) clichain.Backend {
	t.Helper()
	if !warm {
		return c
	}
	pool := live.NewPool([]*clichain.Provider{c.Provider}, &live.PoolConfig{Size: 1, Wait: longTimeout.Timeout})
	t.Cleanup(func() {
		require.Equal(t, 1, pool.Stats().Warm)
		pool.Close()
	})
	return pool.Backends()[0]
}

// The policy for functions allows tools of any MCP server. No other tool of gemini works, and no other server starts.
func TestGeminiAllowsOnlyFunctions(t *testing.T) {
	inEachProcess(t, func(t *testing.T, warm bool) {
		mark := filepath.Join(t.TempDir(), "mark")
		replies := []loopback.Reply{
			loopback.Tool("run_shell_command", map[string]any{"command": "touch " + mark}),
			loopback.Tool("write_file", map[string]any{"file_path": mark, "content": "x"}),
			loopback.Tool("write_file", map[string]any{"file_path": "mark", "content": "x"}),
			loopback.Tool("read_file", map[string]any{"file_path": ".gemini/settings.json"}),
			loopback.Tool("mcp_usersown_env", map[string]any{}),
			loopback.Tool("list_mcp_resources", map[string]any{}),
			loopback.Tool("mcp_hosttools_rm", map[string]any{}),
		}
		c := start(t, home.Gemini, home.LoggedIn, flagsOnly, loopback.InOrder(append(replies, loopback.Text(hello))...))
		own := filepath.Join(t.TempDir(), "environment")
		ownServer(t, c, own)
		add, calls := adder()
		resp, err := hosttools.With(backendOf(t, &c, warm), add).Complete(t.Context(), clichain.Prompt("add 2 and 3"))
		require.NoError(t, err)
		require.Equal(t, hello, resp.Text)
		require.Empty(t, *calls)
		require.NoFileExists(t, mark)
		require.NoFileExists(t, own)
		asked := c.server.Calls()
		require.Len(t, asked, len(replies)+1)
		results := asked[len(replies)].Results()
		require.Len(t, results, len(replies))
		for i, result := range results {
			require.Contains(t, result, `"error"`, "%d", i)
		}
		require.Equal(t, []string{"mcp_hosttools_add"}, asked[0].Tools())
	})
}

// gemini refuses a function whose name has a word such as "save" if its path is that of a build file.
func TestGeminiProtectsBuildFiles(t *testing.T) {
	long(t)
	inEachProcess(t, func(t *testing.T, warm bool) {
		save := func(path string) loopback.Reply {
			return loopback.Tool("mcp_hosttools_save_file", map[string]any{"path": path})
		}
		c := start(t, home.Gemini, home.LoggedIn, longTimeout, loopback.InOrder(
			save("Makefile"), save("notes.txt"), loopback.Text(hello),
		))
		var saved []string
		type file struct {
			Path string `json:"path"`
		}
		tool := hosttools.Func("save_file", "Saves a file.", func(_ context.Context, in file) (string, error) {
			saved = append(saved, in.Path)
			return "SAVEMARK", nil
		})
		_, err := hosttools.With(backendOf(t, &c, warm), tool).Complete(t.Context(), clichain.Prompt("save both"))
		require.NoError(t, err)
		require.Equal(t, []string{"notes.txt"}, saved)
	})
}
