package release_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/netns"
)

// TestMain lets the test binary play a CLI, and runs all else where no network can be reached.
func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(netns.Main(m))
}
