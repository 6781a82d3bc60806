package home

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clichain/clichain/conformance/netns"
	"github.com/stretchr/testify/require"
)

// Install is one published version of a CLI, as npm installed it.
type Install struct {
	CLI     string // the name of the executable
	Package string // the name on npm
	dir     string // the directory of its package.json, below conformance
	program string // the executable in the package, if npm makes no link to it
}

// The directories with a package.json, below conformance.
const (
	newest  = "."
	node22  = "node22"  // CLIs that need a newer Node.js than most systems have
	earlier = "earlier" // versions of half a year ago
	bench   = "bench"   // the contenders of the benchmarks
	clients = "clients" // the clients of the HTTP endpoint
)

// Installs returns all versions that the suite can run, the newest of each CLI first.
func Installs() []Install {
	return []Install{
		{CLI: Claude, Package: "@anthropic-ai/claude-code", dir: newest},
		{CLI: Gemini, Package: "@google/gemini-cli", dir: newest},
		{CLI: OpenCode, Package: "opencode-ai", dir: newest},
		{CLI: Codex, Package: "@openai/codex", dir: newest},
		{CLI: Copilot, Package: "@github/copilot", dir: newest},
		{CLI: Kimi, Package: "@moonshot-ai/kimi-code", dir: node22},
		{CLI: Pi, Package: "@earendil-works/pi-coding-agent", dir: node22},
		{CLI: Kilo, Package: "@kilocode/cli-linux-x64", dir: newest, program: "bin/kilo"},
		{CLI: Cline, Package: "@cline/cli-linux-x64", dir: newest, program: "bin/cline"},
		{CLI: Qwen, Package: "@qwen-code/qwen-code", dir: node22},
		{CLI: Qwen, Package: "@qwen-code/qwen-code", dir: newest},
		{CLI: Claude, Package: "@anthropic-ai/claude-code", dir: earlier},
		{CLI: Gemini, Package: "@google/gemini-cli", dir: earlier},
		{CLI: OpenCode, Package: "opencode-ai", dir: earlier},
		{CLI: Codex, Package: "@openai/codex", dir: earlier},
	}
}

// Newest returns the newest version of a CLI.
func Newest(t testing.TB, name string) Install {
	t.Helper()
	for _, i := range Installs() {
		if i.CLI == name {
			return i
		}
	}
	t.Fatalf("no version of %q is known: see home.Installs", name)
	return Install{}
}

const (
	// installsVariable names a directory with npm installations that replaces conformance.
	installsVariable = "CLICHAIN_CLIS"
	// installCommand runs in the root of the repository.
	installCommand = "npm ci --prefix conformance"
)

// modules returns the node_modules directory that has the CLI.
func (i Install) modules() string {
	dir := os.Getenv(installsVariable)
	if dir == "" {
		dir = here()
	}
	return filepath.Join(dir, i.dir, "node_modules")
}

// RequireAny skips the test if no CLI is installed.
func RequireAny(t testing.TB) {
	t.Helper()
	for _, i := range Installs() {
		if _, err := i.find(); err == nil {
			return
		}
	}
	Installs()[0].Binary(t)
}

// find returns the path of the executable.
func (i Install) find() (string, error) {
	file := filepath.Join(i.modules(), ".bin", i.CLI)
	if i.program != "" {
		file = filepath.Join(i.modules(), i.Package, i.program)
	}
	return exec.LookPath(file)
}

// Binary finds the executable. If it does not exist, Binary skips the test and says how to install the CLI.
func (i Install) Binary(t testing.TB) string {
	t.Helper()
	path, err := i.find()
	install := filepath.Join(installCommand, i.dir)
	switch {
	case err != nil && netns.Required():
		t.Fatalf("%s is not installed (%v), and %s requires it: run %q", i.CLI, err, netns.Variable, install)
	case err != nil:
		t.Skipf("%s is not installed (%v): run %q, or set %s to a directory with the npm installations",
			i.CLI, err, install, installsVariable)
	}
	return path
}

// Version returns the installed version. It does not start the CLI.
func (i Install) Version(t testing.TB) string {
	t.Helper()
	var p struct{ Version string }
	readJSON(t, filepath.Join(i.modules(), i.Package, "package.json"), &p)
	require.NotEmpty(t, p.Version)
	return p.Version
}

// Wanted returns the version that package.json names, whichever version is installed.
func (i Install) Wanted(t testing.TB) string {
	t.Helper()
	var p struct{ Dependencies map[string]string }
	readJSON(t, filepath.Join(here(), i.dir, "package.json"), &p)
	require.NotEmpty(t, p.Dependencies[i.Package])
	return p.Dependencies[i.Package]
}

// Lock returns the content of the package-lock.json beside the package.json that names the version.
func (i Install) Lock(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(here(), i.dir, "package-lock.json"))
	require.NoError(t, err)
	return text
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// here returns the directory conformance.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..")
}

// path returns the PATH of a CLI. A CLI that needs a newer Node.js finds it first.
func (i Install) path() string {
	if i.dir != node22 {
		return os.Getenv("PATH")
	}
	return filepath.Join(i.modules(), ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
}
