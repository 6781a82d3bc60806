package live_test

import (
	"testing"

	"github.com/clichain/clichain/clitest"
)

// waits are the tests that mostly wait for times that must suffice on a slow machine.
var waits = map[string]func(t *testing.T, dialect string){
	"start rejects an answer before a request":   startRejectsAnswerBeforeRequest,
	"canceled call of a pool":                    canceledCallReturnsAtOnce,
	"turn timeout":                               turnTimeout,
	"turn reports the end of a caller's context": turnReportsEndOfCallerContext,
	"limits of output and silence":               turnOutputAndSilenceLimits,
	"stop ends an unresponsive CLI":              stopEndsUnresponsiveCLI,
	"correction shares the timeout of its turn":  correctionSharesTurnTimeout,
	"correction needs time":                      correctionNeedsTime,
	"turn with an undelivered message":           turnWithUndeliveredMessage,
	"end of a session keeps the input open":      sessionEndKeepsInputOpen,
}

// The tests wait at the same time. No process may be left after them.
func TestWaits(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, test := range waits {
		for _, dialect := range dialects {
			t.Run(name+"/"+dialect, func(t *testing.T) {
				t.Parallel()
				test(t, dialect)
			})
		}
	}
}
