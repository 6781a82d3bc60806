package clichain_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
)

// TestMain lets the test binary play the fake CLIs that tests start.
func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(m.Run())
}
