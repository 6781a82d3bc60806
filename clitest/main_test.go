package clitest

import (
	"os"
	"testing"

	"github.com/clichain/clichain/internal/leaks/parallel"
)

func TestMain(m *testing.M) {
	Main()
	parallel.Default(16) // these tests wait more than they compute
	os.Exit(Run(withoutSuppression{parallel.Tests(m)}))
}

// withoutSuppression runs the tests without the variables that suppress backends on this machine, which an Example
// cannot hide itself.
type withoutSuppression struct{ parallel.Suite }

func (m withoutSuppression) Run() int {
	for _, name := range []string{"SKIP_CLI", "CLICHAIN_SKIP"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	return m.Suite.Run()
}
