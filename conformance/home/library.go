package home

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clichain/clichain/conformance/netns"
)

// Library finds the npm package of a client: its directory, and the Node.js that runs it. If the package is not
// installed, Library skips the test.
func Library(t testing.TB, name string) (modules, node string) {
	t.Helper()
	return library(t, clients, name)
}

// Peer finds a contender of the benchmarks in the same way.
func Peer(t testing.TB, name string) (modules, node string) {
	t.Helper()
	return library(t, bench, name)
}

func library(t testing.TB, dir, name string) (modules, node string) {
	t.Helper()
	modules = Install{dir: dir}.modules()
	if _, err := os.Stat(filepath.Join(modules, name, "package.json")); err != nil {
		install := filepath.Join(installCommand, dir)
		if netns.Required() {
			t.Fatalf("%s is not installed (%v), and %s requires it: run %q", name, err, netns.Variable, install)
		}
		t.Skipf("%s is not installed (%v): run %q", name, err, install)
	}
	return modules, filepath.Join(Install{dir: node22}.modules(), ".bin", "node")
}
