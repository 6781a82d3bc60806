package failover_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// A value made without its constructor works, or its error says what to do.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	t.Run("Provider", func(t *testing.T) {
		var p clichain.Provider
		_, completed := p.Complete(t.Context(), clichain.Prompt("hi"))
		_, streamed := call.Collect(p.Stream(t.Context(), clichain.Prompt("hi")))
		_, probed := p.Probe(t.Context(), nil, time.Second)
		_, listed := p.Models(t.Context())
		_, asked := p.AskQuota(t.Context())
		for _, err := range []error{completed, streamed, probed, listed, asked, p.Available(t.Context()), p.Validate(), p.Status("").Err} {
			require.ErrorContains(t, err, "create it with NewProvider")
			chaintest.RequireReason(t, clichain.ReasonBadOption, err)
		}
		require.Empty(t, p.Name())
		require.Empty(t, p.Spec())
		require.Empty(t, p.Environ())
		resp, err := clichain.ChainOf([]clichain.Backend{&p, &chaintest.Backend{ID: "b"}}, nil).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "from b", resp.Text)
	})
	t.Run("Chain", func(t *testing.T) {
		var c clichain.Chain
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorContains(t, err, "no backends to try")
		require.ErrorContains(t, c.Ready(t.Context()), "no backends to try")
		require.NoError(t, c.Validate())
		require.NoError(t, c.CoolingDown(t.Context(), &chaintest.Backend{ID: "b"}))
		require.Empty(t, c.Quota(t.Context(), &chaintest.Backend{ID: "b"}))
	})
	t.Run("Memory", func(t *testing.T) {
		c := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonBilling)}, &clichain.ChainConfig{Store: new(cooldown.Memory)})
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrBilling)
		_, err = c.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrCoolingDown)
	})
	t.Run("File", func(t *testing.T) {
		var f cooldown.File
		_, err := f.Load(t.Context(), "k")
		require.ErrorContains(t, err, "NewFile")
		require.ErrorContains(t, f.Update(t.Context(), "k", chaintest.Put(cooldown.State{})), "NewFile")
	})
	t.Run("Slots", func(t *testing.T) {
		p := clichain.NewProvider(specs.Codex(), &clichain.Config{Slots: make(chan struct{})})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorContains(t, err, "make(chan struct{}, n)", "it does not wait for ever")
	})
}

// A chain skips a backend whose queue is too long, and waiting is no part of an attempt.
func TestQueueing(t *testing.T) {
	clitest.NoLeaks(t)
	full := func() chan struct{} {
		slots := make(chan struct{}, 1)
		slots <- struct{}{}
		return slots
	}
	fails := chaintest.Play(chaintest.ReadStdin, clitest.Exit(1))
	t.Run("for too long", func(t *testing.T) {
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: full(), MaxQueue: 50 * time.Millisecond}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("x"))))
		resp, err := clichain.ChainOf([]clichain.Backend{p, &chaintest.Backend{ID: "next"}}, nil).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		first := resp.Attempts[0]
		require.Equal(t, clichain.ReasonBudgetSpent, first.Reason)
		require.True(t, first.Skipped)
		require.Zero(t, first.Duration)
		require.ErrorContains(t, first.Err, "no slot was free in time")
	})
	t.Run("for some time", func(t *testing.T) {
		slots := full()
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: slots}, fails)
		freed := make(chan time.Time, 1)
		time.AfterFunc(300*time.Millisecond, func() { freed <- time.Now(); <-slots })
		resp, err := clichain.ChainOf([]clichain.Backend{p, &chaintest.Backend{ID: "next"}}, nil).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, clichain.ReasonExit, resp.Attempts[0].Reason)
		require.LessOrEqual(t, resp.Attempts[0].Duration, time.Since(<-freed))
	})
	t.Run("for a session", func(t *testing.T) {
		chaintest.FreshState(t)
		release, err := session.Turns.Take(t.Context(), chaintest.HandleOf("codex", chaintest.AnID))
		require.NoError(t, err)
		defer release()
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{MaxQueue: 50 * time.Millisecond}, fails)
		req := clichain.Prompt("hi")
		req.Session = chaintest.HandleOf("codex", chaintest.AnID)
		_, err = p.Complete(t.Context(), req)
		require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBudgetSpent, err).Message, "same session")
	})
	t.Run("before a session that is rejected", func(t *testing.T) {
		chaintest.FreshState(t)
		slots := full()
		record := filepath.Join(t.TempDir(), "record")
		rejects := chaintest.Play(clitest.Step{Record: record}, chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer("another", "yes")))
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Slots: slots, FreshSessionOnReject: true, Registry: new(runs.Registry)}, rejects)
		start, freed := time.Now(), make(chan time.Time, 1)
		time.AfterFunc(time.Second, func() { freed <- time.Now(); <-slots })
		req := clichain.Prompt("hi")
		req.Session = chaintest.HandleOf("codex", chaintest.AnID)
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, clichain.ReasonBadSession, resp.Attempts[0].Reason)
		// Time before the wait counts, such as the login check.
		waited := (<-freed).Sub(start)
		require.LessOrEqual(t, resp.Attempts[0].Duration, time.Since(start)-waited/2)
	})
}
