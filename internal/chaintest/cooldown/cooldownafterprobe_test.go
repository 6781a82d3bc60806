package cooldown_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// After an answered probe, the attempt needs the minimum time and a backend out of cooldown, like any other.
func TestAttemptAfterProbe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		probe time.Duration // its duration
		limit bool          // another call meets a limit during the probe
		want  clichain.Reason
	}{
		"enough time":       {probe: time.Second},
		"too little time":   {probe: 7 * time.Second, want: clichain.ReasonBudgetSpent},
		"a limit meanwhile": {probe: 2 * time.Second, limit: true, want: clichain.ReasonCoolingDown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &picky{name: "p", reason: clichain.ReasonExit, takes: test.probe}
				c := p.chain(&clichain.ChainConfig{Budget: 10 * time.Second})
				for _, text := range []string{"bad 1", "bad 2", "bad 3"} {
					require.Equal(t, clichain.ReasonExit, askOf(t, c, text))
				}
				if test.limit {
					time.AfterFunc(time.Second, func() {
						now := time.Now()
						limited := cooldown.State{Reason: clichain.ReasonRateLimited, Failures: 1, At: now, Until: now.Add(time.Minute)}
						_ = chaintest.StoreOf(c).Update(t.Context(), chaintest.CooldownKey(p, ""), chaintest.Put(limited))
					})
				}
				resp, err := c.Complete(t.Context(), clichain.Prompt("good"))
				require.EqualValues(t, 1, p.probed.Load())
				if test.want == "" {
					require.NoError(t, err)
					require.EqualValues(t, 8, resp.TotalUsage().InputTokens)
					return
				}
				failed, _ := errors.AsType[*clichain.ChainError](err)
				require.NotNil(t, failed, "the backend was asked after the probe")
				require.Equal(t, test.want, failed.Attempts[len(failed.Attempts)-1].Reason)
				require.EqualValues(t, 3, p.asked.Load(), "nothing was asked after the probe")
				require.EqualValues(t, 7, failed.Usage().InputTokens, "the probe is reported")
			})
		})
	}
}
