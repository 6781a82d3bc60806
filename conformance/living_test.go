package conformance_test

import (
	"testing"

	"github.com/clichain/clichain/conformance/home"
)

// living lists the live processes that a CLI's home can be seen in.
func living(t *testing.T, h home.Home) (found []string) {
	t.Helper()
	return h.Living()
}
