// Package home makes throw-away homes for the real CLIs: configured for a loopback server, with keys that are no keys,
// logged in or not. A CLI that runs with such a home touches nothing of the person who runs the tests.
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
	Codex    = "codex"
	Gemini   = "gemini"
	OpenCode = "opencode"

	// Qwen has no built-in spec.
	Qwen = "qwen"
)

// Names are those that have a built-in spec, in the order in which tests run them.
func Names() []string { return []string{Claude, Codex, Gemini, OpenCode} }

// State is how a CLI is logged in.
type State int

const (
	// LoggedIn has an API key, in the way that the CLI stores or takes one.
	LoggedIn State = iota
	// LoggedOut knows the server and has no credentials at all.
	LoggedOut
	// Subscribed has the credential file of a plan instead of a key. Only claude: the other CLIs check signatures.
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

// New makes a home for a CLI that talks to the server at url, and removes it when the test ends. The test is skipped,
// with the command that installs them, where the CLIs are missing.
func New(t testing.TB, name, url string, state State) Home {
	t.Helper()
	h := Home{Name: name, Binary: Binary(t, name), Dir: tempDir(t)}
	h.Work = h.mkdir(t, "work")
	h.Env = []string{"HOME=" + h.Dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + h.mkdir(t, "tmp")}
	configure, ok := configurations[name]
	require.True(t, ok, "no configuration for %q", name)
	h.Env = append(h.Env, configure(t, h, url, state)...)
	return h
}

// tempDir is not t.TempDir: a CLI may leave a process that writes for a moment after it was killed, and a home that
// cannot be removed at once is no reason to fail a test.
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
// is killed: several CLIs are a wrapper around another process.
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
