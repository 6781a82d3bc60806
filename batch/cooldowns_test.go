package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// A batch waits for a cooldown only if it ends without an operator.
func TestWatchedStoreNeedsPerson(t *testing.T) {
	for _, test := range []struct {
		name   string
		states map[string]clichain.Reason // of active cooldowns
		want   bool
	}{
		{"no cooldown", nil, false},
		{"logged out", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated}, true},
		{"logged out and no credit", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated, "b": clichain.ReasonBilling}, true},
		{"one cooldown that ends without an operator", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated, "b": clichain.ReasonUsageLimit}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := watch(nil)
			keep := func(key string, state cooldown.State) {
				require.NoError(t, s.Update(t.Context(), key, func(cooldown.State) cooldown.State { return state }))
				_, err := s.Load(t.Context(), key)
				require.NoError(t, err)
			}
			now := time.Now()
			keep("over", cooldown.State{Reason: clichain.ReasonUsageLimit, At: now, Until: now.Add(-time.Second)})
			for key, reason := range test.states {
				keep(key, cooldown.State{Reason: reason, At: now, Until: now.Add(time.Hour)})
			}
			require.Equal(t, test.want, s.needsPerson(now))
		})
	}
}
