package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// A batch waits for what passes by itself, and for nothing else.
func TestNeedsPerson(t *testing.T) {
	for _, test := range []struct {
		name   string
		states map[string]clichain.Reason // of cooldowns that go on
		want   bool
	}{
		{"nothing cools down", nil, false},
		{"logged out", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated}, true},
		{"no credit", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated, "b": clichain.ReasonBilling}, true},
		{"one will be back", map[string]clichain.Reason{"a": clichain.ReasonUnauthenticated, "b": clichain.ReasonUsageLimit}, false},
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
