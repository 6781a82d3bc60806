package release_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/netns"
)

// TestMain runs the test binary as a CLI if a test started it as one. Otherwise it runs the tests without a network.
func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(netns.Main(m))
}
