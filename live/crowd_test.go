package live_test

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// crowd sends a backend the given number of calls from concurrent callers, and returns how long that took.
func crowd(t *testing.T, b clichain.Backend, text string, callers, calls int) time.Duration {
	t.Helper()
	var next atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range callers {
		running.Go(func() {
			for next.Add(1) <= int64(calls) {
				if _, err := b.Complete(t.Context(), clichain.Prompt(text)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	return time.Since(began)
}

// If there are more callers than processes, a call waits if the wait is shorter than a start. One call measures
// a cold start, and some calls may leave a queue that has become too long.
func TestPoolServesMoreCallersThanProcesses(t *testing.T) {
	clitest.NoLeaks(t)
	p := live.NewPool([]*clichain.Provider{agentOf(t, "acp", "cold, starts in 500ms", patient)}, &live.PoolConfig{Size: 4})
	defer p.Close()
	took := crowd(t, p.Backends()[0], "take 50ms x", 16, 32)
	t.Logf("32 calls by 16 callers: %v, %+v", took.Round(time.Millisecond), p.Stats())
	require.LessOrEqual(t, p.Stats().Cold, 8)
}

// A CLI whose live mode does not begin makes calls hardly slower than cold calls. The first calls go cold while
// it starts, and later calls do not wait for it.
func TestPoolWithLiveModeThatNeverBegins(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	calls := 60
	if os.Getenv("CLICHAIN_CONFORMANCE") == "long" {
		calls = 200
	}
	agent := agentOf(t, "acp", "silent, cold, starts in 20ms", clichain.Config{Timeout: time.Minute})
	cold := crowd(t, agent, "take 20ms x", 4, calls)
	p := live.NewPool([]*clichain.Provider{agent}, &live.PoolConfig{Size: 4})
	defer p.Close()
	took := crowd(t, p.Backends()[0], "take 20ms x", 4, calls)
	t.Logf("%d calls by 4 callers: %v, %v without a pool, %+v", calls, took.Round(time.Millisecond), cold.Round(time.Millisecond), p.Stats())
	if took >= 2*cold { // the load of the machine may have changed
		cold = max(cold, crowd(t, agent, "take 20ms x", 4, calls))
	}
	require.Less(t, took, 2*cold)
	require.Eventually(t, func() bool { return p.Stats().Processes == 0 }, time.Minute, time.Millisecond)
	started := p.Stats().Started
	crowd(t, p.Backends()[0], "take 20ms x", 4, 8)
	require.Equal(t, started, p.Stats().Started, "no start soon after failed ones")
	require.LessOrEqual(t, p.Stats().Started, 8, "the pool does not keep starting a kind that fails to start")
}
