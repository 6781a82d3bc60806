// Package home makes temporary homes for the real CLIs. A home is configured for a loopback server, and is logged in
// with a fake key or logged out. The package must never read the home, the keys or the environment of the user who
// runs the tests.
package home

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The CLIs, by the name of their executable.
const (
	Claude   = "claude"
	Cline    = "cline"
	Codex    = "codex"
	Gemini   = "gemini"
	OpenCode = "opencode"
	Copilot  = "copilot"
	Kilo     = "kilo"
	Kimi     = "kimi"
	Pi       = "pi"
	Qwen     = "qwen"
)

// Names returns the CLIs that every scenario of the suite runs with, in this order. The others are in the matrix; see
// Installs.
func Names() []string { return []string{Claude, Codex, Gemini, OpenCode} }

// State is how a CLI is logged in.
type State int

const (
	// LoggedIn has an API key, stored or passed as the CLI expects it.
	LoggedIn State = iota
	// LoggedOut knows the server and has no credentials.
	LoggedOut
	// Subscribed has the credential of a plan instead of a key: for claude in a file, for gemini the token of a
	// Google account. The other CLIs check signatures.
	Subscribed
)

// Key is the fake credential in every home.
const Key = "loopback"

// Home is a temporary home with one CLI.
type Home struct {
	Name   string
	Dir    string   // HOME
	Work   string   // an empty working directory
	Binary string   // the executable
	Env    []string // the complete environment that the CLI needs, as "NAME=value"
}

// New makes a home for the newest version of a CLI that talks to the server at url, and removes it when the test
// ends. It skips the test if the CLI is not installed.
func New(t testing.TB, name, url string, state State) Home {
	t.Helper()
	return NewOf(t, Newest(t, name), url, state)
}

// NewOf is like New, for one version of a CLI.
func NewOf(t testing.TB, of Install, url string, state State) Home {
	t.Helper()
	h := Home{Name: of.CLI, Binary: of.Binary(t), Dir: tempDir(t)}
	h.Work = h.mkdir(t, "work")
	h.Env = []string{"HOME=" + h.Dir, "PATH=" + of.path(), "LANG=C.UTF-8", "TERM=dumb",
		"TMPDIR=" + h.mkdir(t, "tmp"), "XDG_STATE_HOME=" + h.mkdir(t, ".local/state"),
		"XDG_CACHE_HOME=" + h.mkdir(t, ".cache")}
	configure, ok := configurations[of.CLI]
	require.True(t, ok, "no configuration for %q", of.CLI)
	h.Env = append(h.Env, configure(t, h, url, state)...)
	return h
}

// tempDir replaces t.TempDir, which fails the test if it cannot remove the directory at once. After the CLI was killed,
// one of its processes may still write for a moment.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "clichain-home-")
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("left behind: %v", err)
		}
	})
	return dir
}

// Command returns a command that runs the CLI with these arguments in this home, in its working directory. When the
// context ends, the command kills its process group, because several CLIs are wrappers around another process.
func (h Home) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.Binary, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = slices.Clone(h.Env), h.Work, 5*time.Second
	ownGroup(cmd)
	return cmd
}

// Apply sets the home's environment in this process until the test ends, for code that passes on its environment.
func (h Home) Apply(t *testing.T) {
	t.Helper()
	for _, pair := range h.Env {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// Write puts a file into the home and returns its path.
func (h Home) Write(t testing.TB, path, content string) string {
	t.Helper()
	h.mkdir(t, filepath.Dir(path))
	file := filepath.Join(h.Dir, path)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

func (h Home) mkdir(t testing.TB, path string) string {
	t.Helper()
	dir := filepath.Join(h.Dir, path)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return dir
}

func (h Home) json(t testing.TB, path string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	h.Write(t, path, string(b))
}
