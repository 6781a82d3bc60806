package conformance_test

import (
	"context"
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

func TestLiveRaw(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(answered))))
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: models[name]}})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		go func() {
			for e, err := range s.Events() {
				t.Logf("%+v %v", e, err)
			}
		}()
		time.Sleep(100 * time.Millisecond)
		resp, err := s.Ask(t.Context(), asked)
		t.Logf("%+v %+v %s", resp, err, c.server.Calls()[0].Body)
		s.Stop()
	})
}
