package cooling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// What calls that ran at the same time are told of one limit is one cooldown.
func TestOneLimitIsOneCooldown(t *testing.T) {
	rule := cooldown.Rule{Base: time.Minute, Cap: time.Hour}
	now := wall(time.Now())
	told := func(began, at, until time.Duration) failure {
		return failure{
			reason: call.ReasonUsageLimit, rule: rule, began: now.Add(began), now: now.Add(at), told: now.Add(until), chance: 0.5,
		}
	}
	first := after(cooldown.State{}, told(-time.Minute, 0, time.Hour), true)
	for name, test := range map[string]struct {
		failure failure
		same    bool
	}{
		"at once":             {told(-time.Minute, time.Second, time.Hour+time.Second), true},
		"the same time":       {told(-time.Minute, time.Second, time.Hour), true},
		"an earlier one":      {told(-time.Minute, time.Second, time.Minute), true},
		"a later one":         {told(-time.Minute, time.Second, 2*time.Hour), false},
		"of a call afterward": {told(time.Second, 2*time.Second, time.Hour+time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.same, first == after(first, test.failure, true))
		})
	}
}
