package cooldown_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// However many different requests fail, concurrently or in a row, the others are answered, with one probe in 30 s.
func TestCooldownUnderAttack(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		t.Run(store, func(t *testing.T) {
			var kept cooldown.Store = cooldown.NewMemory()
			if store == "file" {
				kept = cooldown.NewFile(filepath.Join(t.TempDir(), "cooldowns.json"), func(err error) { t.Error(err) })
			}
			p := &picky{name: "a", reason: clichain.ReasonExit}
			c := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: kept})
			var calls sync.WaitGroup
			for i := range 60 {
				calls.Go(func() { _, _ = c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("bad ", i))) })
			}
			calls.Wait()
			for i := range 10 {
				for j := range 4 {
					require.Equal(t, clichain.ReasonExit, askOf(t, c, fmt.Sprint("bad ", i, j)))
				}
				require.Empty(t, askOf(t, c, "good"))
			}
			require.EqualValues(t, 1, p.probed.Load())
		})
	}
}

func TestCooldownProbeIsMadeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit, takes: 3 * time.Second}
		c := p.chain(nil)
		for i := range 3 {
			askOf(t, c, fmt.Sprint("bad ", i))
		}
		var calls sync.WaitGroup
		start := time.Now()
		for i := range 20 {
			calls.Go(func() {
				resp, err := c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("good ", i)))
				if err != nil || time.Since(start) != time.Duration(len(resp.Attempts))*3*time.Second {
					t.Error("a call waited for the probe of another: ", time.Since(start), err)
				}
			})
		}
		calls.Wait()
		require.EqualValues(t, 1, p.probed.Load())
	})
}

func TestCooldownProbeOfACallerThatLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit, takes: 3 * time.Second}
		c := p.chain(nil)
		for i := range 3 {
			askOf(t, c, fmt.Sprint("bad ", i))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Complete(ctx, clichain.Prompt("good"))
		require.Error(t, err)
		require.NoError(t, c.CoolingDown(t.Context(), p))
		require.Empty(t, askOf(t, c, "good"))
		require.EqualValues(t, 2, p.probed.Load(), "the next call probes")
	})
}

func TestCooldownStoresNoText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	p := &picky{name: "a", reason: clichain.ReasonExit}
	c := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: cooldown.NewFile(path, nil)})
	for i := range 5 {
		askOf(t, c, fmt.Sprint("bad secret ", i))
	}
	require.NotContains(t, chaintest.Read(t, path), "secret")
	require.Contains(t, chaintest.Read(t, path), `"requests"`)
}

// A deadline that is too short for the probe proves nothing. A sufficient deadline does.
func TestCooldownProbeOfACallerInAHurry(t *testing.T) {
	t.Parallel()
	for deadline, want := range map[time.Duration]clichain.Reason{7 * time.Second: "", 15 * time.Second: clichain.ReasonCoolingDown} {
		synctest.Test(t, func(t *testing.T) {
			p := &picky{name: "a", reason: clichain.ReasonExit, takes: 20 * time.Second}
			c := p.chain(nil)
			for i := range 3 {
				askOf(t, c, fmt.Sprint("bad ", i))
			}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			_, err := c.Complete(ctx, clichain.Prompt("good"))
			cancel()
			require.Error(t, err)
			require.Equal(t, want, askOf(t, c, "good"))
		})
	}
}

// If the reader stops during the probe, the call costs nothing more.
func TestCooldownProbeOfAReaderThatLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit}
		c := p.chain(nil)
		for i := range 3 {
			askOf(t, c, fmt.Sprint("bad ", i))
		}
		for range c.Stream(t.Context(), clichain.Prompt("good")) {
			break
		}
		require.EqualValues(t, 3, p.asked.Load())
		require.Empty(t, askOf(t, c, "good"))
	})
}

// After a failed probe the chain asks the next backend with the request itself.
func TestCooldownProbeFailsAndTheNextBackendAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, next := &picky{name: "a", reason: clichain.ReasonExit}, &chaintest.Backend{ID: "next"}
		p.broken.Store(true)
		c := chaintest.OnClock(clichain.ChainOf([]clichain.Backend{p, next}, nil), 0.5, nil)
		for i := range 5 {
			require.Empty(t, askOf(t, c, fmt.Sprint("good ", i)))
		}
		require.EqualValues(t, 3, p.asked.Load())
		require.EqualValues(t, 1, p.probed.Load())
		require.Equal(t, 5, next.Asked)
	})
}

// If requests occupy all slots, no probe runs, which proves nothing.
func TestCooldownProbeWithoutASlot(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	slots := make(chan struct{}, 1)
	f := newFragile(t, clichain.Config{Slots: slots, MaxQueue: 20 * time.Millisecond})
	c := clichain.ChainOf([]clichain.Backend{f.Provider}, nil)
	for i := range 3 {
		require.Equal(t, clichain.ReasonExit, askOf(t, c, fmt.Sprint("bad ", i)))
	}
	slots <- struct{}{}
	require.Equal(t, clichain.ReasonBudgetSpent, askOf(t, c, "good"))
	require.NoError(t, c.CoolingDown(t.Context(), f.Provider))
	require.Equal(t, 3, f.starts())
	<-slots
	f.repair(t)
	require.Empty(t, askOf(t, c, "good"))
}
