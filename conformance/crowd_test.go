package conformance_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// Sixteen callers share four processes of claude. Most of their calls wait for a warm process. Each caller may go cold
// once, while the pool has no measurements. On a busy machine the measurements may mislead a pool, but not each one.
func TestMoreCallersThanProcesses(t *testing.T) {
	for _, callers := range []int{16, 4} {
		cold := 0
		for range 3 {
			if cold = crowd(t, callers); cold <= 16 {
				break
			}
		}
		require.LessOrEqual(t, cold, 16)
	}
}

// crowd makes 32 calls with a new pool, and returns how many of them were cold.
func crowd(t *testing.T, callers int) (cold int) {
	t.Helper()
	c := start(t, home.Claude, home.LoggedIn, clichain.Config{Timeout: 2 * time.Minute}, loopback.Always(loopback.Text(hello)))
	p := live.NewPool([]*clichain.Provider{c.Provider}, &live.PoolConfig{Size: 4})
	began := time.Now()
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for range 32 / callers {
				resp, err := p.Backends()[0].Complete(t.Context(), c.liveQuestion("say hi"))
				if err != nil || resp.Text != hello {
					t.Errorf("%+v %v", resp, err)
				}
			}
		})
	}
	running.Wait()
	t.Logf("32 calls by %d callers: %v, %+v", callers, time.Since(began).Round(10*time.Millisecond), p.Stats())
	require.Empty(t, p.Close().Left)
	return p.Stats().Cold
}
