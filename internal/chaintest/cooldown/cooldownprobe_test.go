package cooldown_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
)

// held is a backend whose calls last until the test releases them.
type held struct {
	name    string
	asked   atomic.Int32
	release chan error
}

func (h *held) Name() string { return h.name }

func (h *held) Complete(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
	h.asked.Add(1)
	select {
	case err := <-h.release:
		return &clichain.Response{Text: "from " + h.name, Backend: h.name}, err
	case <-ctx.Done():
		return nil, &clichain.BackendError{Reason: clichain.ReasonCanceled, Err: ctx.Err()}
	}
}

func (h *held) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		if !yield(clichain.Event{Kind: clichain.EventStart, Backend: h.name}, nil) {
			return
		}
		resp, err := h.Complete(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	}
}

// probing returns a chain whose only backend has completed a cooldown, without a call since.
func probing(t *testing.T) (*clichain.Chain, *held) {
	h := &held{name: "a", release: make(chan error, 1)}
	c := chaintest.OnClock(clichain.ChainOf([]clichain.Backend{h}, nil), 0.5, nil)
	h.release <- &clichain.BackendError{Reason: clichain.ReasonUsageLimit}
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	time.Sleep(5 * time.Minute)
	h.asked.Store(0)
	return c, h
}

// After a cooldown, one of a hundred calls is the probe.
func TestOneProbe(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "file"} {
		t.Run(store, func(t *testing.T) {
			var kept cooldown.Store = cooldown.NewMemory()
			if store == "file" {
				kept = cooldown.NewFile(filepath.Join(t.TempDir(), "cooldowns.json"), func(err error) { t.Error(err) })
			}
			past := time.Now().UTC().Round(0).Add(-time.Second)
			require.NoError(t, kept.Update(t.Context(), "a", func(cooldown.State) cooldown.State {
				return cooldown.State{Reason: clichain.ReasonUsageLimit, Failures: 1, At: past.Add(-time.Minute), Until: past}
			}))
			h := &held{name: "a", release: make(chan error)}
			c := clichain.ChainOf([]clichain.Backend{h}, &clichain.ChainConfig{Store: kept})
			var skipped, answered, warned atomic.Int32
			var calls sync.WaitGroup
			for range 100 {
				calls.Go(func() {
					resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					switch {
					case err == nil:
						answered.Add(1)
						warned.Add(int32(len(resp.Warnings)))
					case errors.Is(err, clichain.ErrCoolingDown):
						skipped.Add(1)
					}
				})
			}
			require.Eventually(t, func() bool { return skipped.Load()+h.asked.Load() == 100 }, time.Minute, time.Millisecond)
			close(h.release)
			calls.Wait()
			require.Equal(t, h.asked.Load(), answered.Load())
			if late := warned.Load(); late > 0 { // a slow store does not stop a call
				t.Logf("the store was too slow for %d calls", late)
				require.LessOrEqual(t, answered.Load(), 1+late)
				return
			}
			require.EqualValues(t, 1, answered.Load())
			rest, err := kept.Load(t.Context(), "a")
			require.NoError(t, err)
			require.Zero(t, rest)
		})
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, c *clichain.Chain, ctx context.Context) (done func() error) {
		var err error
		var call sync.WaitGroup
		call.Go(func() { _, err = c.Complete(ctx, clichain.Prompt("hi")) })
		synctest.Wait()
		return func() error { call.Wait(); return err }
	}
	t.Run("failed probe: longer cooldown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			h.release <- &clichain.BackendError{Reason: clichain.ReasonUsageLimit}
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrUsageLimit)
			until := chaintest.CoolingUntil(t, c, h)
			require.Equal(t, 10*time.Minute, time.Until(until))
		})
	})
	t.Run("canceled caller: the next one probes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			ctx, cancel := context.WithCancel(t.Context())
			first := ask(t, c, ctx)
			be := chaintest.RequireReason(t, clichain.ReasonCoolingDown, ask(t, c, t.Context())())
			require.Equal(t, clichain.DefaultTimeout+5*time.Second, time.Until(be.RetryAfter), "the end of the probe")
			cancel()
			require.ErrorIs(t, first(), clichain.ErrCanceled)
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
			require.EqualValues(t, 2, h.asked.Load())
		})
	})
	t.Run("stopped reader: the next one probes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			for range c.Stream(t.Context(), clichain.Prompt("hi")) {
				break
			}
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
		})
	})
	t.Run("inconclusive failure: the next one probes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			h.release <- &clichain.BackendError{Reason: clichain.ReasonContextOverflow}
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrContextOverflow)
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
		})
	})
	t.Run("hanging probe: no call waits for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			ctx, cancel := context.WithCancel(t.Context())
			first := ask(t, c, ctx)
			time.Sleep(clichain.DefaultTimeout + 5*time.Second)
			second := ask(t, c, t.Context())
			cancel() // must not release the second call's probe
			require.ErrorIs(t, first(), clichain.ErrCanceled)
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrCoolingDown)
			h.release <- nil
			require.NoError(t, second())
			require.EqualValues(t, 2, h.asked.Load())
		})
	})
}
