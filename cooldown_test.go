package clichain_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/specs"
)

// limited fails with a limit that ends at a time of its own telling.
func limited(name string, until time.Time) *backend {
	return &backend{name: name, err: &clichain.BackendError{Backend: name, Reason: clichain.ReasonUsageLimit, RetryAfter: until}}
}

func TestRestUntilTheResetTime(t *testing.T) {
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
				a, next := limited("a", time.Now().Add(test.told)), &backend{name: "next"}
				c := chainOf(a, next).CooldownsWithout(0.5, nil)
				for range 3 {
					resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					require.NoError(t, err)
					require.Equal(t, "from next", resp.Text)
				}
				require.Equal(t, 1, a.asked)
				until := coolingUntil(t, c, a)
				require.Equal(t, test.want, time.Until(until))
				time.Sleep(test.want)
				a.err = nil
				resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.NoError(t, err)
				require.Equal(t, "from a", resp.Text)
				rest, _ := c.StoreOf().Load(t.Context(), "a")
				require.Zero(t, rest, "a success clears it")
			})
		})
	}
}

// Who cannot be asked for a while is skipped with the time; where that is all
// there is, the error has the earliest.
func TestAllRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon := time.Now().Add(time.Hour)
		c := chainOf(failing("gone", clichain.ReasonNotInstalled), limited("a", soon.Add(time.Hour)), limited("b", soon))
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrUsageLimit)
		_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
		be := requireReason(t, clichain.ReasonCoolingDown, err)
		require.True(t, soon.Equal(be.RetryAfter))
		require.Contains(t, be.Message, soon.Local().Format("15:04:05"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.Equal(t, clichain.ReasonCoolingDown, chain.Reason())
		require.False(t, chain.Tried())
		require.Len(t, chain.Attempts, 3)
		require.ErrorContains(t, chain.Attempts[1].Err, "a: cooling_down: cools down until "+soon.Add(time.Hour).Local().Format("15:04:05")+" after usage_limit")
		require.True(t, chain.Attempts[1].Skipped)
		require.NotErrorIs(t, err, clichain.ErrUsageLimit)
	})
}

// A mistake of the caller stays what it is, whoever rests.
func TestAMistakeIsNoRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := &backend{name: "b"}
		c := chainOf(limited("a", time.Now().Add(time.Hour)), wrong)
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		wrong.err = &clichain.BackendError{Reason: clichain.ReasonBadOption}
		_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.Equal(t, clichain.ReasonBadOption, chain.Reason())
	})
}

func TestNoRest(t *testing.T) {
	a := failing("a", clichain.ReasonUsageLimit)
	c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{NoCooldown: true, Store: cooldown.NewMemory()})
	for range 3 {
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrUsageLimit)
	}
	require.Equal(t, 3, a.asked)
}

// A chain in a chain does not rest: its own backends do.
func TestInnerChainsDoNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := failing("a", clichain.ReasonUsageLimit), failing("b", clichain.ReasonExit)
		outer := clichain.ChainOf([]clichain.Backend{chainOf(a, b), &backend{name: "next"}}, nil)
		for range 2 {
			_, err := outer.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
		}
		require.Equal(t, 1, a.asked)
		require.Equal(t, 2, b.asked)
	})
}

// held is a backend whose calls last until the test lets them end.
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

// probing makes a chain whose only backend has rested, and nothing since.
func probing(t *testing.T) (*clichain.Chain, *held) {
	h := &held{name: "a", release: make(chan error, 1)}
	c := clichain.ChainOf([]clichain.Backend{h}, nil).CooldownsWithout(0.5, nil)
	h.release <- &clichain.BackendError{Reason: clichain.ReasonUsageLimit}
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	time.Sleep(5 * time.Minute)
	h.asked.Store(0)
	return c, h
}

// Of a hundred calls after a rest, one finds out whether it was enough.
func TestOneProbe(t *testing.T) {
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
			h := &held{name: "a", release: make(chan error, 1)}
			c := clichain.ChainOf([]clichain.Backend{h}, &clichain.ChainConfig{Store: kept})
			var skipped, answered atomic.Int32
			var calls sync.WaitGroup
			for range 100 {
				calls.Go(func() {
					_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					switch {
					case err == nil:
						answered.Add(1)
					case errors.Is(err, clichain.ErrCoolingDown):
						if skipped.Add(1) == 99 {
							h.release <- nil // the others have been told
						}
					}
				})
			}
			calls.Wait()
			require.EqualValues(t, 1, h.asked.Load())
			require.EqualValues(t, 1, answered.Load())
			rest, err := kept.Load(t.Context(), "a")
			require.NoError(t, err)
			require.Zero(t, rest)
		})
	}
}

func TestProbe(t *testing.T) {
	ask := func(t *testing.T, c *clichain.Chain, ctx context.Context) (done func() error) {
		var err error
		var call sync.WaitGroup
		call.Go(func() { _, err = c.Complete(ctx, clichain.Prompt("hi")) })
		synctest.Wait()
		return func() error { call.Wait(); return err }
	}
	t.Run("fails: a longer rest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			h.release <- &clichain.BackendError{Reason: clichain.ReasonUsageLimit}
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrUsageLimit)
			until := coolingUntil(t, c, h)
			require.Equal(t, 10*time.Minute, time.Until(until))
		})
	})
	t.Run("a caller who leaves gives it to the next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			ctx, cancel := context.WithCancel(t.Context())
			first := ask(t, c, ctx)
			be := requireReason(t, clichain.ReasonCoolingDown, ask(t, c, t.Context())())
			require.Equal(t, clichain.DefaultTimeout+5*time.Second, time.Until(be.RetryAfter), "the end of the probe")
			cancel()
			require.ErrorIs(t, first(), clichain.ErrCanceled)
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
			require.EqualValues(t, 2, h.asked.Load())
		})
	})
	t.Run("a reader who leaves as well", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			for range c.Stream(t.Context(), clichain.Prompt("hi")) {
				break
			}
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
		})
	})
	t.Run("a failure that tells nothing as well", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			h.release <- &clichain.BackendError{Reason: clichain.ReasonContextOverflow}
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrContextOverflow)
			h.release <- nil
			require.NoError(t, ask(t, c, t.Context())())
		})
	})
	t.Run("one that hangs is not waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, h := probing(t)
			ctx, cancel := context.WithCancel(t.Context())
			first := ask(t, c, ctx)
			time.Sleep(clichain.DefaultTimeout + 5*time.Second)
			second := ask(t, c, t.Context())
			cancel() // which must not give the second one's probe away
			require.ErrorIs(t, first(), clichain.ErrCanceled)
			require.ErrorIs(t, ask(t, c, t.Context())(), clichain.ErrCoolingDown)
			h.release <- nil
			require.NoError(t, second())
			require.EqualValues(t, 2, h.asked.Load())
		})
	})
}

// Calls that were under way when a limit was met tell nothing new about it.
func TestCallsUnderWay(t *testing.T) {
	run := func(t *testing.T, last error, want time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			h := &held{name: "a", release: make(chan error)}
			c := clichain.ChainOf([]clichain.Backend{h}, nil).CooldownsWithout(0.5, nil)
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
			until := coolingUntil(t, c, h)
			require.Equal(t, want, time.Until(until))
		})
	}
	since := 8 * time.Second // the first one's failure
	t.Run("count once", func(t *testing.T) {
		run(t, &clichain.BackendError{Reason: clichain.ReasonUsageLimit}, 5*time.Minute-since)
	})
	t.Run("do not clear it", func(t *testing.T) { run(t, nil, 5*time.Minute-since) })
	t.Run("may know of a longer one", func(t *testing.T) {
		run(t, &clichain.BackendError{Reason: clichain.ReasonBilling}, time.Hour)
		run(t, &clichain.BackendError{Reason: clichain.ReasonNetwork}, 5*time.Minute-since)
	})
}

// What the caller's haste ended is no fault of the backend.
func TestHaste(t *testing.T) {
	for _, test := range []struct {
		budget time.Duration
		asked  int
	}{{time.Second, 5}, {6 * time.Second, 3}} {
		synctest.Test(t, func(t *testing.T) {
			slow := &backend{name: "slow", takes: time.Minute}
			c := clichain.ChainOf([]clichain.Backend{slow}, &clichain.ChainConfig{Budget: test.budget})
			for range 5 {
				_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.Error(t, err)
			}
			require.Equal(t, test.asked, slow.asked)
		})
	}
}

// The clock of the machine may be set, forward or back.
func TestClockJumps(t *testing.T) {
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
			a := failing("a", clichain.ReasonUsageLimit)
			c := chainOf(a).CooldownsWithout(0.5, func() time.Time { return now })
			call := func() error { _, err := c.Complete(t.Context(), clichain.Prompt("hi")); return err }
			require.ErrorIs(t, call(), clichain.ErrUsageLimit)
			now = start.Add(test.jump)
			if test.rests > 0 {
				be := requireReason(t, clichain.ReasonCoolingDown, call())
				require.Equal(t, test.rests, be.RetryAfter.Sub(now))
				now = be.RetryAfter.Add(-time.Nanosecond)
				require.ErrorIs(t, call(), clichain.ErrCoolingDown)
				now = be.RetryAfter
			}
			require.ErrorIs(t, call(), clichain.ErrUsageLimit)
			require.Equal(t, 2, a.asked)
		})
	}
}

// Whatever is in a store, and however the clock jumps, nobody rests for more
// than the longest rest from now, and after one call for longer than the rule.
func TestNonsenseInTheStore(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	around := func() time.Time {
		if rand.IntN(4) == 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(rand.Int64N(int64(2000*24*time.Hour))) - 1000*24*time.Hour)
	}
	for range 2000 {
		rest := cooldown.State{Reason: clichain.ReasonUsageLimit, Failures: rand.Int() - rand.Int(), At: around(), Until: around(), Probe: around()}
		c := chainOf(failing("a", clichain.ReasonUsageLimit)).CooldownsWithout(rand.Float64(), func() time.Time { return now })
		require.NoError(t, c.StoreOf().Update(t.Context(), "a", func(cooldown.State) cooldown.State { return rest }))
		for range 20 {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			if !errors.Is(err, clichain.ErrCoolingDown) {
				break
			}
			be := requireReason(t, clichain.ReasonCoolingDown, err)
			require.LessOrEqual(t, be.RetryAfter.Sub(now), resettime.Longest, "%+v", rest)
			now = be.RetryAfter
		}
		kept, err := c.StoreOf().Load(t.Context(), "a")
		require.NoError(t, err)
		require.True(t, kept.Until.After(now), "%+v became %+v", rest, kept)
		require.LessOrEqual(t, kept.Until.Sub(now), time.Hour, "%+v became %+v", rest, kept)
	}
}

// Chance makes a rest a fifth longer or shorter, never longer than the longest.
func TestJitter(t *testing.T) {
	for chance, want := range map[float64]time.Duration{0: 24 * time.Second, 0.5: 30 * time.Second, 0.75: 33 * time.Second, 1: 36 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := failing("a", clichain.ReasonOverloaded)
			c := chainOf(a).CooldownsWithout(chance, nil)
			for _, rest := range []time.Duration{want, 2 * want} {
				_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				until := coolingUntil(t, c, a)
				require.InDelta(t, rest, time.Until(until), float64(time.Microsecond))
				time.Sleep(time.Until(until))
			}
			for range 5 {
				_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				until := coolingUntil(t, c, a)
				require.LessOrEqual(t, time.Until(until), 5*time.Minute)
				time.Sleep(time.Until(until))
			}
		})
	}
}

// A success, another kind of failure, and time end a row of failures; three in a
// row start a cooldown of 30 s, and each one more doubles it.
func TestFailuresInARow(t *testing.T) {
	soft, hard := clichain.ReasonTimeout, clichain.ReasonOverloaded
	for _, test := range []struct {
		name  string
		calls []clichain.Reason
		pause time.Duration
		rests bool
	}{
		{"three", []clichain.Reason{soft, clichain.ReasonExit, clichain.ReasonEmpty}, 0, true},
		{"a success between", []clichain.Reason{soft, soft, "", soft, soft}, 0, false},
		{"another kind between", []clichain.Reason{soft, soft, hard, soft, soft}, time.Minute, false},
		{"what tells nothing does not end it", []clichain.Reason{soft, soft, clichain.ReasonBadModel, soft}, 0, true},
		{"long ago", []clichain.Reason{soft, soft, soft}, 61 * time.Minute, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &backend{name: "a"}
				c := chainOf(a).CooldownsWithout(0.5, nil)
				for _, reason := range test.calls {
					if a.err = nil; reason != "" {
						a.err = &clichain.BackendError{Reason: reason}
					}
					_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
					require.NotErrorIs(t, err, clichain.ErrCoolingDown)
					time.Sleep(test.pause)
				}
				_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.Equal(t, test.rests, errors.Is(err, clichain.ErrCoolingDown))
				for _, rest := range []time.Duration{30 * time.Second, time.Minute} {
					if !test.rests {
						break
					}
					until := coolingUntil(t, c, a)
					require.InDelta(t, rest, time.Until(until), float64(time.Microsecond))
					time.Sleep(time.Until(until))
					_, _ = c.Complete(t.Context(), clichain.Prompt("hi"))
				}
			})
		})
	}
}

// The limit of one model is none of another.
func TestRestOfAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := failing("a", clichain.ReasonUsageLimit)
		c := chainOf(a)
		for _, model := range []string{"big", "big", "small", "small", "", ""} {
			req := clichain.Prompt("hi")
			req.Model = model
			_, err := c.Complete(t.Context(), req)
			require.Error(t, err)
		}
		require.Equal(t, 3, a.asked)
	})
}

// A refusal of one folder or one access is none of another.
func TestRestForARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := failing("a", clichain.ReasonUntrustedDir)
		c := chainOf(a)
		here, there, writes := clichain.Prompt("hi"), clichain.Prompt("hi"), clichain.Prompt("hi")
		here.Access, there.Access, writes.Access = clichain.AccessRead, clichain.AccessRead, clichain.AccessWrite
		there.Dir = "/"
		for _, req := range []clichain.Request{here, here, there, there, writes, writes} {
			_, _ = c.Complete(t.Context(), req)
		}
		require.Equal(t, 3, a.asked)
	})
}

// brokenStore fails, or never comes back.
type brokenStore struct{ hangs bool }

func (s brokenStore) wait(ctx context.Context) error {
	if s.hangs {
		<-ctx.Done()
	}
	return errors.New("out of order")
}

func (s brokenStore) Load(ctx context.Context, _ string) (cooldown.State, error) {
	return cooldown.State{Until: time.Now().Add(time.Hour), At: time.Now()}, s.wait(ctx)
}

func (s brokenStore) Update(ctx context.Context, _ string, _ func(cooldown.State) cooldown.State) error {
	return s.wait(ctx)
}

func TestBrokenStoreFailsNoCall(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			a, next := failing("a", clichain.ReasonUsageLimit), &backend{name: "next"}
			c := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: brokenStore{hangs}})
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(start), 3*time.Second)
		})
	}
}

// The key of a backend's rests changes with what it would log in with.
func TestCooldownKey(t *testing.T) {
	suppressNothing(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("OPENAI_API_KEY", "one")
	program := filepath.Join(t.TempDir(), "codex")
	install := func(text string) { require.NoError(t, os.WriteFile(program, []byte(text), 0o700)) }
	install("#!/bin/sh\n")
	model := ""
	key := func(cfg clichain.Config) string {
		cfg.Binary = program
		return clichain.CooldownKey(clichain.NewProvider(specs.Codex(), &cfg), model)
	}
	first := key(clichain.Config{})
	require.Regexp(t, `^codex@[0-9a-f]{16}$`, first)
	require.Equal(t, first, key(clichain.Config{Timeout: time.Second}))
	t.Setenv("RUST_LOG", "debug")
	t.Setenv("STRANGERS_KEY", "x")
	require.Equal(t, first, key(clichain.Config{}), "variables that mean no account")
	for _, test := range []struct {
		name string
		cfg  clichain.Config
		set  func(t *testing.T)
	}{
		{"a key", clichain.Config{}, func(t *testing.T) { t.Setenv("OPENAI_API_KEY", "two") }},
		{"a home", clichain.Config{}, func(t *testing.T) { t.Setenv("HOME", "/elsewhere") }},
		{"a home of the CLI's own", clichain.Config{}, func(t *testing.T) { t.Setenv("CODEX_HOME", "/elsewhere") }},
		{"a variable of the settings", clichain.Config{Env: []string{"WHO=me"}}, func(*testing.T) {}},
		{"a passed variable", clichain.Config{PassEnv: []string{"STRANGERS_KEY"}}, func(*testing.T) {}},
		{"a new version", clichain.Config{}, func(*testing.T) { install("#!/bin/sh\n# 2\n") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := key(clichain.Config{})
			test.set(t)
			require.NotEqual(t, before, key(test.cfg))
		})
	}
	named := key(clichain.Config{Account: "team"})
	require.NotEqual(t, key(clichain.Config{}), named)
	require.NotEqual(t, named, key(clichain.Config{Account: "other"}))
	t.Run("an account by name", func(t *testing.T) {
		t.Setenv("HOME", "/another machine")
		install("#!/bin/sh\n# 3\n")
		require.Equal(t, named, key(clichain.Config{Account: "team"}))
	})
	first = key(clichain.Config{})
	wrapped := struct{ *clichain.Provider }{clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: program})}
	require.Equal(t, first, clichain.CooldownKey(wrapped, ""))
	model = "codex/gpt-5.5"
	require.Equal(t, first+"/gpt-5.5", key(clichain.Config{}))
	model = specs.Codex().DefaultModel
	require.Equal(t, first, key(clichain.Config{}))
	require.Empty(t, clichain.CooldownKey(clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "/nowhere/codex"}), ""))
	require.Empty(t, clichain.CooldownKey(chainOf(), ""))
	require.Less(t, len(clichain.CooldownKey(&backend{name: strings.Repeat("x", 1000)}, strings.Repeat("y", 1000))), 300)
}

// A refused login is forgotten when the login changes.
func TestRestUntilTheLoginChanges(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CODEX_HOME", "")
	record := filepath.Join(t.TempDir(), "record")
	p := provider(t, specs.Codex(), clichain.Config{}, play(clitest.Step{Record: record}, readStdin, stdout(`{"type":"turn.failed","error":{"message":"401 Unauthorized"}}`+"\n"), clitest.Exit(1)))
	c := clichain.ChainOf([]clichain.Backend{p}, nil)
	ask := func() error { _, err := c.Complete(t.Context(), clichain.Prompt("hi")); return err }
	require.ErrorIs(t, ask(), clichain.ErrUnauthenticated)
	require.ErrorIs(t, ask(), clichain.ErrCoolingDown)
	require.NoError(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".codex", "auth.json"), []byte(`{"OPENAI_API_KEY":"x"}`), 0o600))
	require.ErrorIs(t, ask(), clichain.ErrUnauthenticated, "somebody has logged in anew")
}

// A backend that rests is no reason to give another one up.
func TestRestIsNoCandidate(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	a := failing("a", clichain.ReasonUsageLimit)
	retries := play(readStdin, stdout(`{"type":"error","message":"Reconnecting... 1/5 (429 too many requests)"}`+"\n"), stdout(codexAnswer("at last")))
	p := provider(t, specs.Codex(), clichain.Config{}, retries)
	store := cooldown.NewMemory()
	_, err := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: store}).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	c := clichain.ChainOf([]clichain.Backend{p, a}, &clichain.ChainConfig{Store: store})
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "at last", resp.Text)
	require.Equal(t, 1, a.asked)
}

// coolingUntil is until when the chain passes a backend over; zero: it asks it.
func coolingUntil(t *testing.T, c *clichain.Chain, b clichain.Backend) time.Time {
	t.Helper()
	err := c.CoolingDown(t.Context(), b)
	if err == nil {
		return time.Time{}
	}
	return requireReason(t, clichain.ReasonCoolingDown, err).RetryAfter
}
