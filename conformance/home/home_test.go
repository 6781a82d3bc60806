package home

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var all = append(Names(), Qwen)

// installed creates a directory with fake CLIs, for tests of homes.
func installed(t *testing.T) {
	t.Helper()
	t.Setenv(installsVariable, t.TempDir())
	for _, name := range all {
		file := filepath.Join(Newest(t, name).modules(), ".bin", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\necho \"$HOME\"; pwd\n"), 0o700))
	}
}

func lookup(h Home, name string) string {
	for _, pair := range h.Env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// everything returns all that a CLI could read in its home, and its environment.
func everything(t *testing.T, h Home) string {
	t.Helper()
	found := strings.Join(h.Env, "\n")
	require.NoError(t, filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found += fmt.Sprintf("\n%s %s", path, b)
		return err
	}))
	return found
}

func TestHomesNameServerAndOwnKeyOnly(t *testing.T) {
	installed(t)
	t.Setenv("ANTHROPIC_API_KEY", "a-key-of-the-user")
	t.Setenv("OPENAI_API_KEY", "a-key-of-the-user")
	for _, name := range all {
		h := New(t, name, "http://127.0.0.1:9", LoggedIn)
		found := everything(t, h)
		require.Contains(t, found, "http://127.0.0.1:9", name)
		require.Contains(t, found, Key, name)
		require.NotContains(t, found, "a-key-of-the-user", name)
	}
}

func TestLoggedOutHomesHoldNoKey(t *testing.T) {
	installed(t)
	for _, name := range all {
		found := everything(t, New(t, name, "http://127.0.0.1:9", LoggedOut))
		require.NotContains(t, found, Key, name)
		require.NotContains(t, found, "_API_KEY=", name)
	}
}

func TestSubscriptionIsFileWithoutKey(t *testing.T) {
	installed(t)
	h := New(t, Claude, "http://127.0.0.1:9", Subscribed)
	require.Empty(t, lookup(h, "ANTHROPIC_API_KEY"))
	require.FileExists(t, filepath.Join(h.Dir, ".claude", ".credentials.json"))
	h = New(t, Gemini, "http://127.0.0.1:9", Subscribed)
	require.Empty(t, lookup(h, "GEMINI_API_KEY"))
	require.Equal(t, Key, lookup(h, "GOOGLE_CLOUD_ACCESS_TOKEN"))
}

func TestCommandsRunInHome(t *testing.T) {
	installed(t)
	h := New(t, Codex, "http://127.0.0.1:9", LoggedIn)
	out, err := h.Command(t.Context()).Output()
	require.NoError(t, err)
	require.Equal(t, h.Dir+"\n"+h.Work+"\n", string(out))
	require.Equal(t, filepath.Join(h.Dir, "notes", "a.md"), h.Write(t, "notes/a.md", "a"))
	require.FileExists(t, filepath.Join(h.Dir, "notes", "a.md"))
}

func TestTheGroupOfACommandDiesWithItsContext(t *testing.T) {
	installed(t)
	h := New(t, Codex, "http://127.0.0.1:9", LoggedIn)
	h.Binary = h.Write(t, "wrapper", "#!/bin/sh\nsleep 600 &\necho $!\nwait\n")
	require.NoError(t, os.Chmod(h.Binary, 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cmd := h.Command(ctx)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var child int
	_, err = fmt.Fscan(out, &child)
	require.NoError(t, err)

	cancel()
	_, err = io.ReadAll(out) // returns when neither the wrapper nor its child holds the pipe
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
}

func TestApplySetsTheEnvironmentOfThisProcess(t *testing.T) {
	installed(t)
	h := New(t, Gemini, "http://127.0.0.1:9", LoggedIn)
	t.Run("inside", func(t *testing.T) {
		h.Apply(t)
		require.Equal(t, h.Dir, os.Getenv("HOME"))
		require.Equal(t, "http://127.0.0.1:9", os.Getenv("GOOGLE_GEMINI_BASE_URL"))
	})
	require.NotEqual(t, h.Dir, os.Getenv("HOME"))
}

func TestHomesAreRemoved(t *testing.T) {
	installed(t)
	var dir string
	t.Run("inside", func(t *testing.T) {
		dir = New(t, OpenCode, "http://127.0.0.1:9", LoggedIn).Dir
		require.DirExists(t, dir)
	})
	require.NoDirExists(t, dir)
}

func TestMissingCLISkipsWithInstallCommand(t *testing.T) {
	t.Setenv(installsVariable, t.TempDir())
	t.Setenv("CLICHAIN_CONFORMANCE", "")
	probe := &skipProbe{TB: t}
	func() {
		defer func() { _ = recover() }() // Skipf of a real test does not return either
		Newest(probe, Claude).Binary(probe)
	}()
	require.Contains(t, probe.why, "claude is not installed")
	require.Contains(t, probe.why, installCommand)
}

type skipProbe struct {
	testing.TB
	why string
}

func (p *skipProbe) Skipf(format string, args ...any) {
	p.why = fmt.Sprintf(format, args...)
	panic("skipped")
}
