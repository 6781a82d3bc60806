// Package home makes throw-away homes for the real CLIs: configured for a loopback server, logged in with a fake key or
// logged out. It must never know the home, the keys or the environment of the user who runs the tests.
package home

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/conformance/netns"
	"github.com/stretchr/testify/require"
)

// The CLIs, by the name of their executable.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	OpenCode = "opencode"
	Qwen     = "qwen" // Qwen has no built-in spec
)

// Names are the CLIs with a built-in spec, in the order in which tests run them.
func Names() []string { return []string{Claude, Codex, Gemini, OpenCode} }

// State is how a CLI is logged in.
type State int

const (
	// LoggedIn has an API key, in the way that the CLI stores or takes one.
	LoggedIn State = iota
	// LoggedOut knows the server and has no credentials at all.
	LoggedOut
	// Subscribed has the credential file of a plan instead of a key. Only claude can be: other CLIs check signatures.
	Subscribed
)

// Key is the fake credential in every home.
const Key = "loopback"

// Home is a throw-away home with one CLI in it.
type Home struct {
	Name   string
	Dir    string   // HOME
	Work   string   // an empty folder to work in
	Binary string   // the executable
	Env    []string // the whole environment that the CLI needs, as "NAME=value"
}

// New makes a home for a CLI that talks to the server at url, and removes it when the test ends. The test is skipped
// where the CLI is missing.
func New(t testing.TB, name, url string, state State) Home {
	t.Helper()
	h := Home{Name: name, Binary: Binary(t, name), Dir: tempDir(t)}
	h.Work = h.mkdir(t, "work")
	h.Env = []string{"HOME=" + h.Dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb",
		"TMPDIR=" + h.mkdir(t, "tmp"), "XDG_STATE_HOME=" + h.mkdir(t, ".local/state")}
	configure, ok := configurations[name]
	require.True(t, ok, "no configuration for %q", name)
	h.Env = append(h.Env, configure(t, h, url, state)...)
	return h
}

// tempDir is used in place of t.TempDir, which fails the test when the folder cannot be removed at once: a process of a
// CLI may write for a moment after the CLI was killed.
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

// Command is the CLI with these arguments in this home, in its work folder. When the context ends, its process group
// is killed, because several CLIs are a wrapper around another process.
func (h Home) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.Binary, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = slices.Clone(h.Env), h.Work, 5*time.Second
	ownGroup(cmd)
	return cmd
}

// Apply sets the home's environment in this process until the test ends, for code that passes its own environment on.
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

const (
	// binariesVariable names a folder with the CLIs, in place of conformance/node_modules/.bin.
	binariesVariable = "CLICHAIN_CLIS"
	// installCommand is to be run in the root of the repository.
	installCommand = "npm ci --prefix conformance"
)

// Binary finds the executable of a CLI, or skips the test and says how to install it.
func Binary(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv(binariesVariable)
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(file), "..", "node_modules", ".bin")
	}
	path, err := exec.LookPath(filepath.Join(dir, name))
	switch {
	case err != nil && netns.Required():
		t.Fatalf("%s is not installed (%v), and %s requires it: run %q", name, err, netns.Variable, installCommand)
	case err != nil:
		t.Skipf("%s is not installed (%v): run %q, or set %s to its folder", name, err, installCommand, binariesVariable)
	}
	return path
}
