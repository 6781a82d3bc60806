package cooldown_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/localfile"
)

// lent is a backend for many chains at once. It answers after all other calls were refused.
type lent struct {
	*chaintest.Backend
	asked, refused *atomic.Int32
	others         int32
}

func (b lent) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		b.asked.Add(1)
		for b.refused.Load() < b.others && b.asked.Load() == 1 {
			time.Sleep(time.Millisecond)
		}
		yield(clichain.Event{Kind: clichain.EventDone, Response: &clichain.Response{Text: "ok"}}, nil)
	}
}

// slowDisk is a store that changes slowly, with the lock held.
type slowDisk struct{ cooldown.Store }

func (s slowDisk) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	return s.Store.Update(ctx, key, func(old cooldown.State) cooldown.State {
		time.Sleep(20 * time.Millisecond)
		return change(old)
	})
}

// askAll makes n calls at once, each like its own process: with its own store in the file.
func askAll(t *testing.T, path string, b lent, calls int, now func() time.Time) {
	t.Helper()
	var running sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		running.Go(func() {
			store := slowDisk{cooldown.NewFile(path, nil)}
			c := chaintest.OnClock(clichain.ChainOf([]clichain.Backend{b}, &clichain.ChainConfig{Store: store}), 0.5, now)
			if _, errs[i] = c.Complete(context.WithoutCancel(t.Context()), clichain.Prompt("hi")); errs[i] != nil {
				b.refused.Add(1)
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, clichain.ErrCoolingDown)
		}
	}
}

// lateFolder returns a directory for a test whose last callers are canceled before they have the lock of a file in
// it. A waiting goroutine may create the lock file while the directory is removed.
func lateFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, time.Minute, 10*time.Millisecond)
	})
	return dir
}

// After a cooldown one call probes, however many calls there are and however slow the store is.
func TestOneProbeWithASlowStore(t *testing.T) {
	probes := oneProbe(t)
	for n := 0; n < 4 && probes > 1; n++ { // a busy machine can delay one change by more than all calls wait for it
		probes = oneProbe(t)
	}
	require.EqualValues(t, 1, probes)
}

// oneProbe makes 60 calls after a cooldown, and returns how many of them reach the backend.
func oneProbe(t *testing.T) int32 {
	path := filepath.Join(lateFolder(t), "cooldowns.json")
	limited := chaintest.Failing("a", clichain.ReasonUsageLimit)
	first := clichain.ChainOf([]clichain.Backend{limited}, &clichain.ChainConfig{Store: cooldown.NewFile(path, nil)})
	_, err := first.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	state, err := chaintest.StoreOf(first).Load(t.Context(), chaintest.CooldownKey(limited, ""))
	require.NoError(t, err)
	after := func() time.Time { return state.Until.Add(time.Second) }
	b := lent{Backend: limited, asked: new(atomic.Int32), refused: new(atomic.Int32)}

	unlock, err := localfile.Lock(t.Context(), path+".lock", time.Millisecond)
	require.NoError(t, err)
	askAll(t, path, b, 5, after)
	unlock()
	require.EqualValues(t, 5, b.asked.Swap(0), "a store that does not answer keeps no call from a backend")

	b.others = b.refused.Load() + 59
	askAll(t, path, b, 60, after)
	return b.asked.Load()
}
