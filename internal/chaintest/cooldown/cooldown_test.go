package cooldown_test

import (
	"fmt"
	"os"
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
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/specs"
)

// limited fails with a limit that ends at a given time.
func limited(name string, until time.Time) *chaintest.Backend {
	return &chaintest.Backend{ID: name, Err: &clichain.BackendError{Backend: name, Reason: clichain.ReasonUsageLimit, RetryAfter: until}}
}

func TestRestUntilTheResetTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		told, want time.Duration
	}{
		{"told", 3 * time.Hour, 3 * time.Hour},
		{"a week", 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		{"nonsense ahead", 300 * 24 * time.Hour, resettime.Longest},
		{"over already", -time.Hour, 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, next := limited("a", time.Now().Add(test.told)), &chaintest.Backend{ID: "next"}
				c := chaintest.OnClock(chaintest.ChainOf(a, next), 0.5, nil)
				for range 3 {
					resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					require.NoError(t, err)
					require.Equal(t, "from next", resp.Text)
				}
				require.Equal(t, 1, a.Asked)
				until := chaintest.CoolingUntil(t, c, a)
				require.Equal(t, test.want, time.Until(until))
				time.Sleep(test.want)
				a.Err = nil
				resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.NoError(t, err)
				require.Equal(t, "from a", resp.Text)
				rest, _ := chaintest.StoreOf(c).Load(t.Context(), "a")
				require.Zero(t, rest, "a success clears it")
			})
		})
	}
}

// A backend in cooldown is skipped with the time of its end. If all backends are skipped, the error has the earliest
// time.
func TestAllRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		soon := time.Now().Add(time.Hour)
		c := chaintest.ChainOf(chaintest.Failing("gone", clichain.ReasonNotInstalled), limited("a", soon.Add(time.Hour)), limited("b", soon))
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrUsageLimit)
		_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
		be := chaintest.RequireReason(t, clichain.ReasonCoolingDown, err)
		require.True(t, soon.Equal(be.RetryAfter))
		require.Contains(t, be.Message, soon.Local().Format("15:04:05"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.Equal(t, clichain.ReasonCoolingDown, chain.Reason())
		require.False(t, chain.Tried())
		require.Len(t, chain.Attempts, 3)
		require.ErrorContains(t, chain.Attempts[1].Err, "a: cooling_down: in cooldown until "+soon.Add(time.Hour).Local().Format("15:04:05")+" after usage_limit")
		require.True(t, chain.Attempts[1].Skipped)
		require.NotErrorIs(t, err, clichain.ErrUsageLimit)
	})
}

// A caller's mistake keeps its reason when other backends are in cooldown.
func TestAMistakeIsNoRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wrong := &chaintest.Backend{ID: "b"}
		c := chaintest.ChainOf(limited("a", time.Now().Add(time.Hour)), wrong)
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		wrong.Err = &clichain.BackendError{Reason: clichain.ReasonBadOption}
		_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.Equal(t, clichain.ReasonBadOption, chain.Reason())
	})
}

func TestNoRest(t *testing.T) {
	t.Parallel()
	a := chaintest.Failing("a", clichain.ReasonUsageLimit)
	c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{NoCooldown: true, Store: cooldown.NewMemory()})
	for range 3 {
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrUsageLimit)
	}
	require.Equal(t, 3, a.Asked)
}

// A chain in a chain has no cooldown: its own backends do.
func TestInnerChainsDoNotRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := chaintest.Failing("a", clichain.ReasonUsageLimit), chaintest.Failing("b", clichain.ReasonExit)
		outer := clichain.ChainOf([]clichain.Backend{chaintest.ChainOf(a, b), &chaintest.Backend{ID: "next"}}, nil)
		for range 2 {
			_, err := outer.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
		}
		require.Equal(t, 1, a.Asked)
		require.Equal(t, 2, b.Asked)
	})
}

// Calls in flight when a limit was met do not extend it.
func TestCallsUnderWay(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, last error, want time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			h := &held{name: "a", release: make(chan error)}
			c := chaintest.OnClock(clichain.ChainOf([]clichain.Backend{h}, nil), 0.5, nil)
			var calls sync.WaitGroup
			for range 10 {
				calls.Go(func() { _, _ = c.Complete(t.Context(), clichain.Prompt("hi")) })
			}
			synctest.Wait()
			for range 9 {
				time.Sleep(time.Second)
				h.release <- &clichain.BackendError{Reason: clichain.ReasonUsageLimit}
			}
			h.release <- last
			calls.Wait()
			until := chaintest.CoolingUntil(t, c, h)
			require.Equal(t, want, time.Until(until))
		})
	}
	since := 8 * time.Second // after the failure of the first call
	t.Run("failures in flight count once", func(t *testing.T) {
		run(t, &clichain.BackendError{Reason: clichain.ReasonUsageLimit}, 5*time.Minute-since)
	})
	t.Run("answers in flight do not clear it", func(t *testing.T) { run(t, nil, 5*time.Minute-since) })
	t.Run("failures in flight may name a later end", func(t *testing.T) {
		run(t, &clichain.BackendError{Reason: clichain.ReasonBilling}, time.Hour)
		run(t, &clichain.BackendError{Reason: clichain.ReasonNetwork}, 5*time.Minute-since)
	})
}

// A call that a short deadline ended is no failure of the backend.
func TestHaste(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		budget time.Duration
		asked  int
	}{{time.Second, 5}, {6 * time.Second, 4}} { // a probe is the fourth start
		synctest.Test(t, func(t *testing.T) {
			slow := &chaintest.Backend{ID: "slow", Takes: time.Minute}
			c := clichain.ChainOf([]clichain.Backend{slow}, &clichain.ChainConfig{Budget: test.budget})
			for i := range 5 {
				_, err := c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hi ", i)))
				require.Error(t, err)
			}
			require.Equal(t, test.asked, slow.Asked)
		})
	}
}

// The clock of the machine may be set forward or back.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name  string
		jump  time.Duration
		rests time.Duration // from then on
	}{
		{"forward over the end", 3 * time.Hour, 0},
		{"forward", time.Minute, 4 * time.Minute},
		{"back a little", -time.Second, 5*time.Minute + time.Second},
		{"back a year", -365 * 24 * time.Hour, 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := start
			a := chaintest.Failing("a", clichain.ReasonUsageLimit)
			c := chaintest.OnClock(chaintest.ChainOf(a), 0.5, func() time.Time { return now })
			call := func() error { _, err := c.Complete(t.Context(), clichain.Prompt("hi")); return err }
			require.ErrorIs(t, call(), clichain.ErrUsageLimit)
			now = start.Add(test.jump)
			if test.rests > 0 {
				be := chaintest.RequireReason(t, clichain.ReasonCoolingDown, call())
				require.Equal(t, test.rests, be.RetryAfter.Sub(now))
				now = be.RetryAfter.Add(-time.Nanosecond)
				require.ErrorIs(t, call(), clichain.ErrCoolingDown)
				now = be.RetryAfter
			}
			require.ErrorIs(t, call(), clichain.ErrUsageLimit)
			require.Equal(t, 2, a.Asked)
		})
	}
}

// A cooldown after a refused login ends when the login changes.
func TestRestUntilTheLoginChanges(t *testing.T) {
	clitest.NoLeaks(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CODEX_HOME", "")
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.ReadStdin, chaintest.Stdout(`{"type":"turn.failed","error":{"message":"401 Unauthorized"}}`+"\n"), clitest.Exit(1)))
	c := clichain.ChainOf([]clichain.Backend{p}, nil)
	ask := func() error { _, err := c.Complete(t.Context(), clichain.Prompt("hi")); return err }
	require.ErrorIs(t, ask(), clichain.ErrUnauthenticated)
	require.ErrorIs(t, ask(), clichain.ErrCoolingDown)
	require.NoError(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".codex", "auth.json"), []byte(`{"OPENAI_API_KEY":"x"}`), 0o600))
	require.ErrorIs(t, ask(), clichain.ErrUnauthenticated, "somebody has logged in anew")
}

// A backend in cooldown is no reason to fail over early.
func TestRestIsNoCandidate(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	a := chaintest.Failing("a", clichain.ReasonUsageLimit)
	retries := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"error","message":"Reconnecting... 1/5 (429 too many requests)"}`+"\n"), chaintest.Stdout(chaintest.CodexAnswer("at last")))
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, retries)
	store := cooldown.NewMemory()
	_, err := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: store}).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	c := clichain.ChainOf([]clichain.Backend{p, a}, &clichain.ChainConfig{Store: store})
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "at last", resp.Text)
	require.Equal(t, 1, a.Asked)
}
