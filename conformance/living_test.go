package conformance_test

import (
	"testing"

	"github.com/clichain/clichain/conformance/home"
)

// living lists the processes of a CLI's home.
func living(t *testing.T, h home.Home) (found []string) {
	t.Helper()
	return h.Living()
}
