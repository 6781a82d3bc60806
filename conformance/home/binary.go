package home

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clichain/clichain/conformance/netns"
)

// binariesVariable names a folder with the CLIs, in place of conformance/node_modules/.bin.
const binariesVariable = "CLICHAIN_CLIS"

// installCommand is what a skipped test tells people to run in the root of the repository.
const installCommand = "npm ci --prefix conformance"

// Binary finds the executable of a CLI, or skips the test and says how to install it.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(filepath.Join(folder(), name))
	if err != nil && netns.Required() {
		t.Fatalf("%s is not installed (%v), and CLICHAIN_CONFORMANCE says it must be: run %q", name, err, installCommand)
	}
	if err != nil {
		t.Skipf("%s is not installed (%v): run %q, or set %s to a folder that has it", name, err, installCommand, binariesVariable)
	}
	return path
}

func folder() string {
	if dir := os.Getenv(binariesVariable); dir != "" {
		return dir
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(filepath.Dir(file)), "node_modules", ".bin")
}
