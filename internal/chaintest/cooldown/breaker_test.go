package cooldown_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// fragile is a CLI that fails until it is repaired, and counts its starts.
type fragile struct {
	*clichain.Provider
	dir   string
	now   time.Time // the clock of the breaker
	asked int       // number of requests, all different
}

func newFragile(t *testing.T, cfg clichain.Config) *fragile {
	t.Helper()
	f := &fragile{dir: t.TempDir(), now: time.Now()}
	cfg.Binary, cfg.Confine = filepath.Join(f.dir, "codex"), call.ConfineOff // it writes beside its program
	chaintest.WriteProgram(t, cfg.Binary, fmt.Sprintf("#!/bin/sh\ncat >/dev/null\necho >>%[1]s/starts\n[ -e %[1]s/hangs ] && exec sleep 600\n[ -e %[1]s/repaired ] || exit 3\ncat %[1]s/repaired\n", f.dir))
	f.Provider = clichain.NewProvider(specs.Codex(), &cfg)
	chaintest.OnClock(f.Provider, 0.5, func() time.Time { return f.now })
	return f
}

func (f *fragile) starts() int {
	data, _ := os.ReadFile(filepath.Join(f.dir, "starts"))
	return strings.Count(string(data), "\n")
}

func (f *fragile) repair(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "repaired"), []byte(chaintest.CodexAnswer("hello")), 0o600))
}

// ask makes a number of calls and returns the reasons.
func (f *fragile) ask(t *testing.T, calls int) (reasons []string) {
	t.Helper()
	for range calls {
		f.asked++
		_, err := f.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hi ", f.asked)))
		reason := ""
		if err != nil {
			reason = string(err.(*clichain.BackendError).Reason)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

func TestBreakerOfALoneProvider(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	require.Equal(t, []string{"exit", "exit", "exit", "cooling_down", "cooling_down", "cooling_down"}, f.ask(t, 6))
	require.Equal(t, 4, f.starts(), "one probe")
	err := f.Check(t.Context(), clichain.Prompt("hi"))
	refused := chaintest.RequireReason(t, clichain.ReasonCoolingDown, err)
	require.Equal(t, "codex", refused.Backend)
	require.WithinDuration(t, f.now.Add(30*time.Second), refused.RetryAfter, 7*time.Second)

	f.now = refused.RetryAfter.Add(time.Second)
	require.NoError(t, f.Check(t.Context(), clichain.Prompt("hi")))
	require.Equal(t, []string{"cooling_down", "cooling_down"}, f.ask(t, 2), "one call probes")
	require.Equal(t, 5, f.starts())
	refused = chaintest.RequireReason(t, clichain.ReasonCoolingDown, f.Check(t.Context(), clichain.Prompt("hi")))
	require.WithinDuration(t, f.now.Add(time.Minute), refused.RetryAfter, 13*time.Second)

	f.now = refused.RetryAfter.Add(time.Second)
	f.repair(t)
	require.Equal(t, []string{"", "", ""}, f.ask(t, 3))
}

// A success clears the failures before it, and a single failure does not open the breaker.
func TestBreakerCountsFailuresInARow(t *testing.T) {
	t.Parallel()
	f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	f.ask(t, 2)
	f.repair(t)
	require.Equal(t, []string{""}, f.ask(t, 1))
	require.NoError(t, os.Remove(filepath.Join(f.dir, "repaired")))
	require.Equal(t, []string{"exit", "exit", "exit", "cooling_down"}, f.ask(t, 4))

	limited := chaintest.Provider(t, specs.Codex(), clichain.Config{Breaker: cooldown.BreakerOn}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again at 11:59 PM."}}`+"\n"), clitest.Exit(1)))
	for i, want := range []clichain.Reason{clichain.ReasonUsageLimit, clichain.ReasonUsageLimit, clichain.ReasonUsageLimit, clichain.ReasonCoolingDown} {
		_, err := limited.Complete(t.Context(), clichain.Prompt("hi"))
		refused := chaintest.RequireReason(t, want, err)
		if i == 3 {
			require.WithinDuration(t, time.Now().Add(30*time.Second), refused.RetryAfter, 30*time.Second, "not the time of the limit")
		}
	}
}

// A call that its caller cancels is no evidence about the CLI, and releases the probe.
func TestBreakerIgnoresCalls(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"canceled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
		"out of time": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			hanging := chaintest.Provider(t, specs.Codex(), clichain.Config{Breaker: cooldown.BreakerOn}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Hang: true}))
			for range 4 {
				ctx, cancel := end(t.Context())
				_, err := hanging.Complete(ctx, clichain.Prompt("hi"))
				cancel()
				require.NotErrorIs(t, err, clichain.ErrCoolingDown)
			}
			f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
			f.ask(t, 4)
			starts := f.starts()
			f.now = f.now.Add(time.Minute)
			ctx, cancel := end(t.Context())
			_, err := f.Complete(ctx, clichain.Prompt("hi"))
			cancel()
			require.Error(t, err)
			require.Equal(t, []string{"cooling_down"}, f.ask(t, 1))
			require.Greater(t, f.starts(), starts, "the probe is free")

			f = newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
			f.ask(t, 3)
			require.NoError(t, os.WriteFile(filepath.Join(f.dir, "hangs"), nil, 0o600))
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err = f.Complete(ctx, clichain.Prompt("hi"))
			cancel()
			require.Error(t, err)
			require.NoError(t, f.Check(t.Context(), clichain.Prompt("hi")), "a probe that had no time")
		})
	}
}

func TestBreakerPolicies(t *testing.T) {
	t.Parallel()
	for _, policy := range []cooldown.Breaker{"", cooldown.BreakerSessions, cooldown.BreakerOff} {
		f := newFragile(t, clichain.Config{Breaker: policy})
		f.ask(t, 6)
		require.Equal(t, 6, f.starts(), "%q", policy)
	}
	_, err := clichain.NewProvider(specs.Codex(), &clichain.Config{Breaker: "always"}).Complete(t.Context(), clichain.Prompt("hi"))
	require.Equal(t, "config.breaker", chaintest.RequireReason(t, clichain.ReasonBadOption, err).Option)
}

// In a chain, the chain's cooldowns count a failure once.
func TestBreakerInAChain(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*clichain.Chain) error{
		"complete": func(c *clichain.Chain) error {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			return err
		},
		"nested": func(c *clichain.Chain) error {
			_, err := clichain.ChainOf([]clichain.Backend{c}, nil).Complete(t.Context(), clichain.Prompt("hi"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
			c := clichain.ChainOf([]clichain.Backend{f.Provider}, &clichain.ChainConfig{NoCooldown: true})
			for range 4 {
				require.ErrorIs(t, ask(c), clichain.ErrExit)
			}
			require.Equal(t, 4, f.starts())
			require.NoError(t, f.Check(t.Context(), clichain.Prompt("hi")))
		})
	}
}

// A reader that panics releases the probe.
func TestBreakerAfterAPanic(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	f.ask(t, 4)
	f.now = f.now.Add(time.Minute)
	f.repair(t)
	require.Panics(t, func() {
		for range f.Stream(t.Context(), clichain.Prompt("hi")) {
			panic("reader")
		}
	})
	require.Equal(t, []string{""}, f.ask(t, 1))
}

// One caller's request that fails repeatedly does not block a provider for other callers.
func TestBreakerIgnoresARepeatedRequest(t *testing.T) {
	t.Parallel()
	f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	for range 5 {
		_, err := f.Complete(t.Context(), clichain.Prompt("bad"))
		require.ErrorIs(t, err, clichain.ErrExit)
	}
	require.Equal(t, 5, f.starts())
	f.repair(t)
	require.Equal(t, []string{""}, f.ask(t, 1))
}

// A probe of the breaker costs money, so the answer or failure after it lists the probe.
func TestBreakerListsItsProbe(t *testing.T) {
	t.Parallel()
	f := newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	f.ask(t, 3)
	f.repair(t)
	resp, err := f.Complete(t.Context(), clichain.Prompt("good"))
	require.NoError(t, err)
	require.Len(t, resp.Attempts, 1)
	require.ErrorContains(t, resp.Attempts[0].Err, "probe")
	require.Equal(t, 5, f.starts())

	f = newFragile(t, clichain.Config{Breaker: cooldown.BreakerOn})
	f.ask(t, 3)
	f.repair(t)
	req := clichain.Prompt("good")
	req.Schema = []byte(chaintest.Cities)
	_, err = f.Complete(t.Context(), req)
	failed := chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	require.ErrorContains(t, failed.Earlier[0].Err, "probe")
}

// If the reader stops during a probe, no process starts for its own request.
func TestProbeOfAReaderThatLeavesStartsNothingElse(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	f := newFragile(t, clichain.Config{})
	c := clichain.ChainOf([]clichain.Backend{f.Provider}, nil)
	for i := range 3 {
		require.Equal(t, clichain.ReasonExit, askOf(t, c, fmt.Sprint("bad ", i)))
	}
	f.repair(t)
	for e, err := range c.Stream(t.Context(), clichain.Prompt("good")) {
		require.NoError(t, err)
		require.Equal(t, clichain.EventStart, e.Kind)
		break
	}
	require.Equal(t, 4, f.starts())
}
