package repo_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
)

// A finding fails .ci/vulns, an unreachable database does not, in any order. These are the messages and exit codes of
// govulncheck 1.9.0.
func TestVulns(t *testing.T) {
	requirePrograms(t, "bash", "timeout")
	const (
		clean       = "echo No vulnerabilities found."
		finding     = "echo Vulnerability '#1: GO-2026-0001'; exit 3"
		unreachable = `echo 'govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev": no such host' >&2; exit 1`
		status      = `echo 'govulncheck: fetching vulnerabilities: HTTP GET x returned unexpected status: 503' >&2; exit 1`
		broken      = `echo 'govulncheck: loading packages: fetching vulnerabilities: x' >&2; exit 1`
		said        = `echo 'govulncheck: fetching vulnerabilities: x'; exit 1` // not on stderr
		late        = `echo 'govulncheck: fetching vulnerabilities: x' >&2; exit 124`
	)
	for name, test := range map[string]struct {
		runs []string // results of govulncheck in each module
		want string
		fail bool
	}{
		"clean":                {runs: []string{clean, clean}},
		"finding":              {runs: []string{clean, finding, clean}, fail: true, want: "1: exit code 3"},
		"unreachable":          {runs: []string{unreachable, clean}, want: "NOT CHECKED, the database cannot be reached: 0"},
		"unexpected status":    {runs: []string{clean, status}, want: "NOT CHECKED, the database cannot be reached: 1"},
		"unreachable at first": {runs: []string{unreachable, finding}, fail: true, want: "1: exit code 3"},
		"unreachable at last":  {runs: []string{finding, unreachable}, fail: true, want: "0: exit code 3"},
		"broken package":       {runs: []string{broken}, fail: true, want: "0: exit code 1"},
		"words of a package":   {runs: []string{said}, fail: true, want: "0: exit code 1"},
		"timed out":            {runs: []string{late}, fail: true, want: "0: exit code 124"},
		"no such program":      {runs: []string{"exec /nonexistent"}, fail: true, want: "0: exit code 127"},
		"nothing to check":     {fail: true, want: "no directory to check"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, err := filepath.Abs(".ci/vulns")
			require.NoError(t, err)
			args := []string{"sh"} // plays govulncheck: the argument "./..." names its script
			for i, run := range test.runs {
				module := fmt.Sprint(i)
				require.NoError(t, os.Mkdir(filepath.Join(dir, module), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, module, "..."), []byte(run+"\n"), 0o600))
				args = append(args, module)
			}
			cmd := exec.CommandContext(t.Context(), script, args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.Equal(t, test.fail, err != nil, "%s", out)
			require.Contains(t, string(out), test.want)
			require.Equal(t, test.want != "", strings.Contains(string(out), "vulns:"), "%s", out)
		})
	}
}

// bareGo plays the go command for .ci/bare: it records its arguments and its environment.
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

// .ci/bare runs the README's two commands without caches, configuration and installations, and cleans up. It fails if
// a command fails.
func TestBare(t *testing.T) {
	requirePrograms(t, "bash", "git")
	const found = `new.txt
conformance/kept
.git
GOENV=/settings/of/the/user
GOFLAGS=-v
`
	demo := "\n$ " + regexp.MustCompile(`(?m)^go run ./examples/demo.*`).FindString(chaintest.Read(t, "README.md")) + "\ngo run ./examples/demo\n" + found
	test := "\n$ go test work\ngo test work\n" + found
	none := "bare: README has no line like ^go test.* work$\n"
	for name, c := range map[string]struct{ fails, without, want string }{
		"passes":          {want: demo + test},
		"demo fails":      {fails: "run", want: demo},
		"test fails":      {fails: "test", want: demo + test},
		"no test command": {without: " work\n", want: demo + none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, temp := t.TempDir(), t.TempDir()
			files := map[string]string{
				".ci/bare": chaintest.Read(t, ".ci/bare"), "new.txt": "", "conformance/kept": "", ".gitignore": "node_modules\n",
				"conformance/node_modules/cli": "", "README.md": chaintest.Read(t, "README.md"),
			}
			if c.without != "" {
				files["README.md"] = strings.ReplaceAll(files["README.md"], c.without, "\n")
			}
			dir := repository(t, files)
			chaintest.WriteProgram(t, filepath.Join(bin, "go"), bareGo)

			cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci/bare"))
			cmd.Dir = temp
			cmd.Env = []string{
				"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + temp, "FAILS=" + c.fails, "GOFLAGS=-v",
				"CLICHAIN_CLIS=/clis", "CLICHAIN_CONFORMANCE=required", "XDG_CONFIG_HOME=/config", "SKIP_CLI=1", "GOBIN=/bin",
				"GOWORK=off", "GOCACHE=/cache", "GOMODCACHE=/modules", "GOPATH=/go",
			}
			out, err := cmd.CombinedOutput()
			require.Equal(t, c.want, string(out))
			require.Equal(t, name != "passes", err != nil)
			objects, err := exec.Command("git", "-C", dir, "count-objects").CombinedOutput()
			require.NoError(t, err, "%s", objects)
			require.Contains(t, string(objects), "0 objects", "written to the checkout")
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// runGo plays the go command and all other programs of .ci/run: it prints its arguments, and fails at the ones in FAILS.
const runGo = `#!/bin/sh
case "$1" in list) echo "$PWD"; exit;; run) cat >/dev/null;; esac
printf '%s' "${0##*/}"; printf ' %s' "$@"; echo
case "$*" in $FAILS) exit 1;; esac
[ "$1" != build ] || cp "$0" "$5"
`

// .ci/run runs its steps in order until one fails, or the ones that are named, and prints their times.
func TestRunSteps(t *testing.T) {
	requirePrograms(t, "bash", "git")
	order := []string{"form", "bare", "race", "clis", "fuzz", "wine", "release", "bench", "systems", "vulns"}
	for name, c := range map[string]struct {
		args  []string
		fails string
		steps []string
		says  string
	}{
		"all":          {steps: order, says: `(?m)^ci: all passed in \d+ s, slowest: (\w+ \d+ s(, )?){5}$`},
		"two":          {args: []string{"wine", "form"}, steps: []string{"wine", "form"}, says: `slowest: (\w+ \d+ s(, )?){2}`},
		"a failure":    {fails: "test -json -race*", steps: order[:3]},
		"unknown step": {args: []string{"form", "nothing"}, says: `there is no step nothing: use form bare race`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, map[string]string{".ci/run": chaintest.Read(t, ".ci/run"), "a_test.go": "func BenchmarkA"})
			bin := t.TempDir()
			for _, program := range []string{"go", "gofmt", "npm", "gcc", "curl", "podman", "promtool", "wine", "x86_64-w64-mingw32-ld", "apt-get"} {
				chaintest.WriteProgram(t, filepath.Join(bin, program), runGo)
			}
			chaintest.WriteProgram(t, filepath.Join(bin, "gofmt"), "#!/bin/sh\n")
			for _, script := range []string{"bare", "tidy", "wine", "vulns"} {
				chaintest.WriteProgram(t, filepath.Join(dir, ".ci", script), runGo)
			}
			cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(dir, ".ci/run")}, c.args...)...)
			cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "FAILS=" + cmp.Or(c.fails, "none")}
			out, err := cmd.CombinedOutput()
			require.Equal(t, c.fails != "" || c.steps == nil, err != nil, "%s", out)
			var began []string
			for _, line := range regexp.MustCompile(`(?m)^== (\w+)$`).FindAllStringSubmatch(string(out), -1) {
				began = append(began, line[1])
			}
			require.Equal(t, c.steps, began, "%s", out)
			require.Regexp(t, c.says, string(out))
		})
	}
}

// loadGo plays the go command for .ci/load: it prints the processes beside it, and fails in the run with that number.
const loadGo = `#!/bin/sh
[ "$*" = "env GOFLAGS" ] && echo -v && exit
run=$(ls "$LOGS" | wc -l)
echo "go $* with $GOFLAGS: $(wc -w </proc/$PPID/task/$PPID/children) processes"
[ "$run" != "$FAILS" ]
`

// .ci/load runs the README's test command beside four busy loops until a run fails, and ends the loops. The checkout
// has no commit, as in .ci/bare.
func TestLoad(t *testing.T) {
	requirePrograms(t, "bash", "git")
	if runtime.GOOS != "linux" {
		t.Skip("it lists the children of a process in /proc")
	}
	for name, c := range map[string]struct {
		fails string
		logs  int
		want  string
	}{
		"passes": {"", 2, "load: 2 runs passed"},
		"fails":  {"1", 1, "load: run 1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, logs := t.TempDir(), t.TempDir()
			chaintest.WriteProgram(t, filepath.Join(bin, "go"), loadGo)
			dir := repository(t, map[string]string{".ci/load": chaintest.Read(t, ".ci/load"), "README.md": chaintest.Read(t, "README.md")})
			cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci/load"), "2", logs)
			cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "LOGS=" + logs, "FAILS=" + c.fails}
			out, err := cmd.CombinedOutput() // returns after the loops have ended, because they hold the output
			require.Equal(t, c.fails != "", err != nil)
			require.Contains(t, string(out), c.want)
			list, err := os.ReadDir(logs)
			require.NoError(t, err)
			require.Len(t, list, c.logs)
			log := chaintest.Read(t, filepath.Join(logs, "load-1.txt"))
			require.Contains(t, log, "\ngo test work with -v -count=1: 5 processes\n")
		})
	}
}

// repository makes a git repository with files, which are not committed.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
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
