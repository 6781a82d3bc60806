package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clichain/clichain/clitest/fake"
)

// TestMain gives the tests an empty home directory, which is not below the temporary directory of the CLIs. The test
// binary also plays a host process, which has the home directory of the tests.
func TestMain(m *testing.M) {
	fake.Main()
	if dir := os.Getenv(hostVariable); dir != "" {
		hostMain(dir)
		return
	}
	os.Exit(inHome(m))
}

func inHome(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workspace-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, value := range map[string]string{
		"HOME": filepath.Join(dir, "home"), "XDG_CACHE_HOME": filepath.Join(dir, "home", ".cache"),
		"XDG_STATE_HOME": filepath.Join(dir, "home", ".local", "state"), "XDG_CONFIG_HOME": "",
		"TMPDIR":            filepath.Join(dir, "temp"),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"home", "temp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
