package live_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/live"
	"github.com/stretchr/testify/require"
)

// faultyCalls are shared by the dialects and eight callers.
const faultyCalls = 504

// One in twenty calls has a fault. Each call gets its correct answer or a typed error, and no process is left.
func TestPoolWithFaultyCalls(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			p, b := pooled(t, dialect, coldAgent, patient, &live.PoolConfig{Size: 4})
			faults := []string{"cut it", "die now", "fail 500 internal server error", "halfway x", "garbage fine"}
			var answered, typed atomic.Int64
			var running sync.WaitGroup
			for worker := range 8 {
				running.Go(func() {
					for i := range faultyCalls / len(dialects) / 8 {
						text := fmt.Sprintf("say %d-%d", worker, i)
						if (i+worker)%20 == 0 {
							text = faults[(i/20+worker)%len(faults)]
						}
						resp, err := b.Complete(t.Context(), clichain.Prompt(text))
						switch {
						case err != nil:
							if call.AsError("", err).Reason != "" {
								typed.Add(1)
							}
						case resp.Text == strings.SplitN(text, " ", 2)[1] || resp.Text == "cold: "+text:
							answered.Add(1)
						default:
							t.Errorf("%q: %q", text, resp.Text)
						}
					}
				})
			}
			running.Wait()
			require.EqualValues(t, faultyCalls/len(dialects), answered.Load()+typed.Load())
			t.Logf("%d answered, %d failed, %+v", answered.Load(), typed.Load(), p.Stats())
		})
	}
}
