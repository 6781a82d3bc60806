package workspace_test

import (
	"os"
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
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(fake.Run(m))
}
