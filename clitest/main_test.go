package clitest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(withoutSuppression{m})) }

// withoutSuppression runs the tests without the variables that suppress backends on this machine, which an Example
// cannot hide itself.
type withoutSuppression struct{ *testing.M }

func (m withoutSuppression) Run() int {
	for _, name := range []string{"SKIP_CLI", "CLICHAIN_SKIP"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	return m.M.Run()
}
