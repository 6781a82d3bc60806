package repo_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

func TestMain(m *testing.M) { chaintest.Main(m, atRoot) }

// atRoot makes the root of the repository the working directory of the tests, but not of the fake CLIs.
func atRoot() {
	clitest.Main()
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
}
