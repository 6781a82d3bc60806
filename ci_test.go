package clichain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bareGo plays the go command for .ci/bare: it writes down what it was called with and what it found.
const bareGo = `#!/bin/sh
[ "$*" = "env GOENV" ] && exec echo /settings/of/the/user
echo "go $*"
[ "$GOMODCACHE $GOCACHE" = "$HOME/go/pkg/mod $HOME/.cache/go-build" ] || echo "other caches: $GOMODCACHE $GOCACHE"
[ "$1" = test ] || for file in "$HOME"/* "$HOME"/.[!.]*; do [ ! -e "$file" ] || echo "HOME is not empty: $file"; done
for file in new.txt conformance/* .git; do echo "$file"; done
env | grep -E '^(CLICHAIN_|XDG_|SKIP_CLI|GOBIN|GOWORK|GIT_|GOENV|GOFLAGS)' | sort
mkdir -p "$GOMODCACHE/module" && touch "$GOMODCACHE/module/file" && chmod -R a-w "$GOMODCACHE/module"
[ "$1" != "$FAILS" ]
`

// .ci/bare runs README's two commands where nothing is cached, configured or installed, and cleans up. Each failure of a
// command fails it.
func TestBare(t *testing.T) {
	requirePrograms(t, "bash", "git")
	const found = `new.txt
conformance/kept
.git
GOENV=/settings/of/the/user
GOFLAGS=-v
`
	demo := "\n$ " + regexp.MustCompile(`(?m)^go run ./cmd/clichain demo.*`).FindString(read(t, "README.md")) + "\ngo run ./cmd/clichain demo\n" + found
	test := "\n$ go test -race -p 4 -timeout 60m work\ngo test -race -p 4 -timeout 60m work\n" + found
	none := "bare: README has no line like ^go test.* work$\n"
	for name, c := range map[string]struct{ fails, without, want string }{
		"passes":          {want: demo + test},
		"demo fails":      {fails: "run", want: demo},
		"test fails":      {fails: "test", want: demo + test},
		"no test command": {without: " work\n", want: demo + none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, bin, temp := t.TempDir(), t.TempDir(), t.TempDir()
			files := map[string]string{
				".ci/bare": read(t, ".ci/bare"), "new.txt": "", "conformance/kept": "", ".gitignore": "node_modules\n",
				"conformance/node_modules/cli": "", "README.md": read(t, "README.md"),
			}
			if c.without != "" {
				files["README.md"] = strings.ReplaceAll(files["README.md"], c.without, "\n")
			}
			for path, text := range files {
				path = filepath.Join(dir, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput()
			require.NoError(t, err, "%s", out)
			writeProgram(t, filepath.Join(bin, "go"), bareGo)

			cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci/bare"))
			cmd.Dir = temp
			cmd.Env = []string{
				"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + temp, "FAILS=" + c.fails, "GOFLAGS=-v",
				"CLICHAIN_CLIS=/clis", "CLICHAIN_CONFORMANCE=required", "XDG_CONFIG_HOME=/config", "SKIP_CLI=1", "GOBIN=/bin",
				"GOWORK=off", "GOCACHE=/cache", "GOMODCACHE=/modules", "GOPATH=/go",
			}
			out, err = cmd.CombinedOutput()
			require.Equal(t, c.want, string(out))
			require.Equal(t, name != "passes", err != nil)
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Nothing that .ci/run installs with npm is there when it runs README's commands for the first time.
func TestBareRunsFirst(t *testing.T) {
	text := read(t, ".ci/run")
	bare := strings.Index(text, "\n.ci/bare\n")
	require.Positive(t, bare)
	for _, later := range []string{"npm ci", "go vet", "go test"} {
		require.Greater(t, strings.Index(text, later), bare, later)
	}
}

// requirePrograms skips the test if a program is not installed.
func requirePrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: %v", name, err)
		}
	}
}
