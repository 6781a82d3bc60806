package conformance_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// eachLive runs a test for each CLI that has a live mode.
func eachLive(t *testing.T, test func(t *testing.T, name string)) {
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		test(t, name)
	})
}

// One process of each CLI answers turn after turn, is interrupted in the middle of one, and leaves nothing.
func TestLiveSession(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(
			loopback.Text(answered), loopback.Text(hello), loopback.Text("third"), loopback.Slow(time.Second, loopback.Text("one two three four five six seven eight nine ten eleven twelve")), loopback.Text("after it"), loopback.Text("resumed"),
		))
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: models[name]}})
		t.Cleanup(s.Kill)
		began := time.Now()
		require.NoError(t, s.Start(t.Context()))
		t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
		for i, want := range []string{answered, hello, "third"} {
			began := time.Now()
			resp, err := s.Ask(t.Context(), []string{asked, "and now?", "and then?"}[i])
			require.NoError(t, err)
			require.Equal(t, want, resp.Text)
			require.Positive(t, resp.Usage.OutputTokens)
			t.Logf("turn %d: %v, %+v", i, time.Since(began).Round(time.Millisecond), resp.Usage)
		}
		require.Contains(t, string(c.server.Calls()[2].Body), asked, "it is one conversation")

		turn, err := s.Send("talk")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(c.server.Calls()) == 4 }, time.Minute, 10*time.Millisecond)
		began = time.Now()
		require.NoError(t, s.Interrupt(t.Context()))
		t.Logf("interrupted after %v", time.Since(began).Round(time.Millisecond))
		_, err = turn.Wait(t.Context())
		require.ErrorIs(t, err, live.ErrInterrupted)
		resp, err := s.Ask(t.Context(), "and after that?")
		require.NoError(t, err)
		require.Equal(t, "after it", resp.Text)

		require.NoError(t, s.Pause())
		turn, err = s.Send("when you can")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = turn.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, s.Resume())
		resp, err = turn.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "resumed", resp.Text)
		began = time.Now()
		s.Stop()
		t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
		require.NoError(t, s.Status().Err)
	})
}

// warm is a pool of one CLI, and its backend.
func warm(t *testing.T, c cli, cfg *live.PoolConfig) (*live.Pool, clichain.Backend) {
	t.Helper()
	p := live.NewPool([]*clichain.Provider{c.Provider}, cfg)
	t.Cleanup(func() { require.Empty(t, p.Close().Left) })
	return p, p.Backends()[0]
}

// A warm call is told nothing of the one before, and costs little more to send than a cold one.
func TestPoolForgets(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(answered)))
		p, b := warm(t, c, nil)
		first, second := c.question(asked), c.question("what did I say?")
		_, err := b.Complete(t.Context(), first)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, 10*time.Millisecond)
		resp, err := b.Complete(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, answered, resp.Text)
		_, err = c.Complete(t.Context(), second)
		require.NoError(t, err)

		calls := c.server.Calls()
		require.Len(t, calls, 3)
		for _, word := range []string{"zyzzyva", "vermilion", "noted"} {
			require.NotContains(t, string(calls[1].Body), word)
		}
		require.Contains(t, string(calls[1].Body), "what did I say?")
		t.Logf("%s: %d bytes warm, %d cold", name, len(calls[1].Body), len(calls[2].Body))
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 2}, p.Stats())
	})
}

// Warm and cold calls by turns, from the call to the answer.
func TestWarmBesideCold(t *testing.T) {
	long(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			cfg := clichain.Config{Timeout: 2 * time.Minute}
			c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
			p, b := warm(t, c, nil)
			const rounds = 9
			var cold, hot []time.Duration
			for i := range rounds + 1 {
				for _, one := range []struct {
					b    clichain.Backend
					list *[]time.Duration
				}{{c, &cold}, {b, &hot}} {
					began := time.Now()
					resp, err := one.b.Complete(t.Context(), c.question("say hi"))
					require.NoError(t, err)
					require.Equal(t, hello, resp.Text)
					if i > 0 { // the first starts the process
						*one.list = append(*one.list, time.Since(began))
					}
					require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, time.Millisecond)
				}
			}
			slices.Sort(cold)
			slices.Sort(hot)
			ratio := float64(cold[rounds/2]) / float64(hot[rounds/2])
			t.Logf("%s: cold %v (%v to %v), warm %v (%v to %v), %.1f times", name, cold[rounds/2].Round(time.Millisecond), cold[0].Round(time.Millisecond),
				cold[rounds-1].Round(time.Millisecond), hot[rounds/2].Round(time.Millisecond), hot[0].Round(time.Millisecond), hot[rounds-1].Round(time.Millisecond), ratio)
			require.Greater(t, ratio, 2.0)
		})
	}
}
