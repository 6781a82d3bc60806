package conformance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/netns"
)

// confinedScenarios are the rows of the matrix that the short form compares.
var confinedScenarios = []string{"ok", "401", "429", "404-model", "hang"}

// Each scenario has the same verdict confined as unconfined, with a cold and with a warm process. AccessFull is never
// confined.
func TestConfinedVerdicts(t *testing.T) {
	netns.Require(t)
	for _, install := range chosen(t) {
		for _, s := range scenarios() {
			if s.name == "tool-full" {
				continue
			}
			for label, isWarm := range map[string]bool{"cold": false, "warm": true} {
				t.Run(install.CLI+" "+s.name+" "+label, func(t *testing.T) {
					longUnless(t, install.CLI == home.Claude && slices.Contains(confinedScenarios, s.name))
					t.Parallel()
					free := s.verdictWith(t, install, clichain.Config{Confine: call.ConfineOff}, isWarm)
					confined := s.verdictWith(t, install, clichain.Config{Confine: call.ConfineRequired}, isWarm)
					require.Equal(t, free, confined)
				})
			}
		}
	}
}
