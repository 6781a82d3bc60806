package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
)

// The example of docs/how-to/test-a-spec.md runs in a directory outside this repository.
func TestTheKitOutside(t *testing.T) {
	section := section(t, chaintest.Read(t, "docs/how-to/test-a-spec.md"), "## Write the test")
	code, wants := chaintest.Blocks(section, "go"), chaintest.Blocks(section, "text")
	require.Len(t, code, 1)
	require.Len(t, wants, 1)
	spec := chaintest.Blocks(strings.SplitAfter(chaintest.Read(t, "docs/how-to/write-a-spec.md"), "## A complete example")[1], "json")[0]

	t.Run("valid spec", func(t *testing.T) {
		t.Parallel()
		out, err := goTest(t, map[string]string{"lumen_test.go": code[0], "lumen.json": spec})
		require.NoError(t, err, out)
		require.Contains(t, out, "--- PASS: TestLumen/secrets")
		require.Contains(t, out, "--- PASS: TestFallsBack")
	})
	t.Run("broken spec", func(t *testing.T) {
		t.Parallel()
		broken := strings.Replace(spec, `"args": [`, `"args": [{"args": ["--yolo"]}, {"args": ["--ask={prompt}"]},`, 1)
		require.NotEqual(t, spec, broken)
		out, err := goTest(t, map[string]string{"lumen_test.go": code[0], "lumen.json": broken})
		require.Error(t, err)
		for want := range strings.Lines(wants[0]) {
			require.Contains(t, out, strings.TrimSpace(want))
		}
		for _, check := range []string{"valid", "answers", "options", "cut_short", "secrets"} {
			require.Contains(t, out, "--- PASS: TestLumen/"+check)
		}
	})
}

// goTest runs a test of these files in its own directory. The go command resolves their imports in this workspace, so
// that a fresh machine needs no other modules than this test binary.
func goTest(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"test", "-v", "-vet=off", "-count=1"}
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		if filepath.Ext(name) == ".go" {
			args = append(args, file)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOPROXY=off", "SKIP_CLI=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
