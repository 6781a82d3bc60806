package clichain_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A stranger tests a spec of their own as docs/testing.md shows, in a module that has nothing to do with this one.
func TestTheKitOutside(t *testing.T) {
	section := section(t, read(t, "docs/testing.md"), "## Testing your own spec")
	code, wants := blocks(section, "go"), blocks(section, "text")
	require.Len(t, code, 1)
	require.Len(t, wants, 1)
	spec := blocks(strings.SplitAfter(read(t, "docs/specs.md"), "## A complete example")[1], "json")[0]

	t.Run("a sound spec", func(t *testing.T) {
		t.Parallel()
		out, err := goTest(t, map[string]string{"lumen_test.go": code[0], "lumen.json": spec})
		require.NoError(t, err, out)
		require.Contains(t, out, "--- PASS: TestLumen/secrets")
		require.Contains(t, out, "--- PASS: TestFallsBack")
	})
	t.Run("a broken spec", func(t *testing.T) {
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

// goTest runs the tests of a module made of these files and this repository. It needs no network: what the library
// needs is in the module cache, as it is tested here.
func goTest(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	files["go.mod"] = fmt.Sprintf("module example.com/lumen\n\ngo 1.26.0\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %[2]s\n", module, root)
	files["go.sum"] = read(t, "go.sum")
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command("go", "test", "-v", "-vet=off", "-count=1", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "SKIP_CLI=", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
