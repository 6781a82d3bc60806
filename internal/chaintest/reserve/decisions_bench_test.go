package reserve_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// decisive returns a chain whose first backend is in cooldown, so that a call makes two decisions.
func decisive(tb testing.TB, store cooldown.Store) *clichain.Chain {
	limit := &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(24 * time.Hour)}
	c := clichain.ChainOf([]clichain.Backend{&chaintest.Instant{ID: "a", Err: limit}, &chaintest.Instant{ID: "b"}}, &clichain.ChainConfig{Store: store})
	_, err := c.Complete(tb.Context(), clichain.Prompt("hi"))
	require.NoError(tb, err)
	return c
}

// BenchmarkDecisions measures whole calls of a chain with one backend in cooldown.
func BenchmarkDecisions(b *testing.B) {
	for name, store := range map[string]cooldown.Store{
		"memory": cooldown.NewMemory(),
		"file":   cooldown.NewFile(filepath.Join(b.TempDir(), "cooldowns.json"), func(err error) { b.Error(err) }),
	} {
		b.Run(name, func(b *testing.B) {
			c := decisive(b, store)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := c.Complete(context.Background(), clichain.Prompt("hi"))
					if err != nil || resp.Attempts[0].Reason != clichain.ReasonCoolingDown {
						b.Error(resp, err)
					}
				}
			})
			b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}

// Thousands of concurrent calls on one chain: each returns an answer or an error, and leaves no memory behind.
func TestManyCallsOfOneChain(t *testing.T) {
	const waves, callers = 2, 5000 // the race detector supports 8128 goroutines
	calls := chaintest.Often(10, 1)
	c := decisive(t, nil)
	var before, after runtime.MemStats
	for wave := range waves + 1 {
		if wave == 1 { // growth in the first wave is permanent state
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		var all sync.WaitGroup
		start := make(chan struct{})
		for range callers {
			all.Go(func() {
				<-start
				for range calls {
					resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					if err != nil || resp.Text != "from b" || !errors.Is(resp.Attempts[0].Err, clichain.ErrCoolingDown) {
						t.Error(resp, err)
					}
				}
			})
		}
		close(start)
		all.Wait()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<19))
}

// examined is a backend that counts its readiness checks.
type examined struct {
	chaintest.Instant
	asked int
}

func (b *examined) Available(context.Context) error {
	b.asked++
	return nil
}

// With a deadline or a budget, the chain checks only as many backends as it reserves time for.
func TestABudgetExaminesFewBackends(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		budget time.Duration
		want   []int
	}{
		{"none", 0, []int{0, 0, 0, 0, 0}},
		{"time for all", time.Minute, []int{0, 1, 1, 0, 0}},
		{"time for one more", 10 * time.Second, []int{0, 1, 0, 0, 0}},
		{"time for one", 6 * time.Second, []int{0, 0, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var backends []clichain.Backend
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				backends = append(backends, &examined{Instant: chaintest.Instant{ID: name}})
			}
			cfg := &clichain.ChainConfig{Budget: test.budget, MinAttempt: 5 * time.Second}
			_, err := clichain.ChainOf(backends, cfg).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			asked := []int{}
			for _, b := range backends {
				asked = append(asked, b.(*examined).asked)
			}
			require.Equal(t, test.want, asked)
		})
	}
}
