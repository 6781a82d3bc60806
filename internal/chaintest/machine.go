package chaintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/specs"
)

// LogIn gives every CLI a key.
func LogIn(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CURSOR_API_KEY", "CODEX_API_KEY"} {
		t.Setenv(name, "x")
	}
}

// FreshMachine has all CLIs on PATH, an empty home, and no other environment variables. It returns the home and the
// directory of the programs.
func FreshMachine(t *testing.T, s clitest.Scenario) (home, bin string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if name != "PATH" && name != "TMPDIR" && !strings.HasPrefix(name, "GO") {
			t.Setenv(name, value) // restored at the end
			require.NoError(t, os.Unsetenv(name))
		}
	}
	home, bin = t.TempDir(), t.TempDir()
	for _, spec := range specs.Every() {
		_, err := clitest.Install(bin, spec.Binary, s)
		require.NoError(t, err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	return home, bin
}

// Write writes a file below a directory.
func Write(t *testing.T, dir, path, content string) string {
	t.Helper()
	file := filepath.Join(dir, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// Keychain: on these systems a login may be invisible.
const Keychain = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// FreshState gives the test its own state directory.
func FreshState(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	return dir
}

// SetOnline simulates a network, or none, until the test ends.
func SetOnline(t *testing.T, is bool) {
	old := machine.Online
	machine.Online = func() bool { return is }
	t.Cleanup(func() { machine.Online = old })
}

// Suppressors are the environment variables that suppress backends, the first of them first.
var Suppressors = []string{
	"SKIP_CLI", "CLICHAIN_SKIP_CLI", "NOETHER_LLM_SKIP_CLI", "CALORON_LLM_SKIP_CLI", "LLM_HERE_SKIP_CLI",
}

// SuppressNothing unsets what the machine running the tests may have set.
func SuppressNothing(t *testing.T) {
	for _, variable := range Suppressors {
		t.Setenv(variable, "")
	}
}

// WriteProgram writes a program in another process, so that this process does not have it open when it starts.
func WriteProgram(t *testing.T, path, text string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader(text)
	require.NoError(t, cmd.Run())
}
