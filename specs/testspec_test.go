package specs_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

// Every built-in spec passes the checks for custom specs.
func TestEverySpecIsConformant(t *testing.T) {
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) { clitest.TestSpec(t, spec) })
	}
}
