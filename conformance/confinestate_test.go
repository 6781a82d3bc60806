//go:build linux

package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// Confined processes of claude share a home with one that is not confined. All start with a complete file, and only the
// one that is not confined changes it. A confined process that wrote the file in place broke the start of the others.
func TestConfinedClaudesKeepTheirState(t *testing.T) {
	t.Parallel()
	cfg := clichain.Config{Timeout: minute, Confine: call.ConfineRequired}
	confined := start(t, home.Claude, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
	cfg = confined.Config()
	cfg.Confine = call.ConfineOff
	free := cli{clichain.NewProvider(specs.Claude(), &cfg), confined.home, confined.server}
	kept := map[string]any{"theme": "light", "mcpServers": map[string]any{}}
	for i := range 200 {
		kept[fmt.Sprintf("kept%d", i)] = "a value of a later version"
	}
	text, err := json.Marshal(kept)
	require.NoError(t, err)
	path := confined.home.Write(t, ".claude.json", string(text))

	askAtOnce(t, confined, confined, confined, confined, confined, confined)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after))

	askAtOnce(t, confined, confined, free)
	after, err = os.ReadFile(path)
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, json.Unmarshal(after, &values), "%s", after)
	require.Greater(t, len(values), len(kept), "the CLI that is not confined did not change the file")
	for key, value := range kept {
		require.Equal(t, value, values[key], key)
	}
}

// A confined claude answers without the file, and does not create it.
func TestConfinedClaudeWithoutItsFile(t *testing.T) {
	t.Parallel()
	cfg := clichain.Config{Timeout: minute, Confine: call.ConfineRequired}
	c := start(t, home.Claude, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
	path := filepath.Join(c.home.Dir, ".claude.json")
	if err := os.Remove(path); err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	askAtOnce(t, c, c)
	require.NoFileExists(t, path)
}

// askAtOnce asks each of the CLIs two questions, all at the same time.
func askAtOnce(t *testing.T, list ...cli) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	for i, c := range list {
		wg.Go(func() {
			for range 2 {
				if _, err := c.Complete(t.Context(), c.askIn(clichain.AccessRead, "say hi")); err != nil {
					errs[i] = err
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, make([]error, len(list)), errs)
}

// A CLI renews its login with a new file that it renames to the old one. A confined program can do so in the directory
// of the CLI's state, and the next run can read the file. The shell of the CLI is in the place of its login.
func TestConfinedCLIReplacesItsCredential(t *testing.T) {
	for _, test := range []struct {
		name, path string
		state      home.State
	}{
		{home.Claude, ".claude/.credentials.json", home.Subscribed},
		{home.Codex, ".codex/auth.json", home.LoggedIn},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var script loopback.Script
			spec, _ := specs.ByName(test.name)
			cfg := clichain.Config{Timeout: minute, Confine: call.ConfineRequired}
			c := startSpec(t, unguarded(spec, false), test.state, cfg, func(q loopback.Request) loopback.Reply { return script(q) })
			path := filepath.Join(c.home.Dir, test.path)
			command := fmt.Sprintf("cp %[1]s %[1]s.new && mv %[1]s.new %[1]s && echo renamed", path)
			script = loopback.InOrder(shell(test.name, command), loopback.Text(hello))
			old := inode(t, path)
			resp, err := c.Complete(t.Context(), clichain.Prompt("go on"))
			require.NoError(t, err)
			require.Regexp(t, confinedBy(test.name, clichain.AccessNone), resp.Confined)
			require.Contains(t, results(c), "renamed")
			require.NotEqual(t, old, inode(t, path))
			resp, err = c.Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
		})
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}
