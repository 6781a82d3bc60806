package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/live"
)

// Three consecutive sessions that fail, each in the same way, open the breaker of their provider.
func TestSessionBreakerOpensAfterThreeFailures(t *testing.T) {
	t.Parallel()
	dies := func(t *testing.T, p *clichain.Provider) error {
		s := live.New(p, nil)
		t.Cleanup(s.Kill)
		return s.Start(t.Context())
	}
	turn := func(text string) func(*testing.T, *clichain.Provider) error {
		return func(t *testing.T, p *clichain.Provider) error {
			s := live.New(p, nil)
			t.Cleanup(s.Kill)
			if err := s.Start(t.Context()); err != nil {
				return err
			}
			_, err := s.Ask(t.Context(), text)
			s.Stop()
			return err
		}
	}
	leaves := func(t *testing.T, p *clichain.Provider) error {
		s := live.New(p, nil)
		t.Cleanup(s.Kill)
		if err := s.Start(t.Context()); err != nil {
			return err
		}
		for range s.Events() { // until the CLI has ended
		}
		return s.Status().Err
	}
	for name, test := range map[string]struct {
		manners string
		policy  cooldown.Breaker
		session func(*testing.T, *clichain.Provider) error
		want    []clichain.Reason // of four sessions
	}{
		"starts":              {manners: "dies at start", session: dies, want: []clichain.Reason{"unauthenticated", "unauthenticated", "unauthenticated", "cooling_down"}},
		"starts with calls":   {manners: "dies at start", policy: cooldown.BreakerOn, session: dies, want: []clichain.Reason{"unauthenticated", "unauthenticated", "unauthenticated", "cooling_down"}},
		"turns":               {session: turn("die now"), want: []clichain.Reason{"rate_limited", "rate_limited", "rate_limited", "cooling_down"}},
		"ends without a turn": {manners: "leaves", session: leaves, want: []clichain.Reason{"exit", "exit", "exit", "cooling_down"}},
		"without the breaker": {manners: "dies at start", policy: cooldown.BreakerOff, session: dies, want: []clichain.Reason{"unauthenticated", "unauthenticated", "unauthenticated", "unauthenticated"}},
		"answers":             {session: turn("say hi"), want: []clichain.Reason{"", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T, dialect string) {
				cfg := patient
				cfg.Breaker = test.policy
				p := agentOf(t, dialect, test.manners, cfg)
				var reasons []clichain.Reason
				for range test.want {
					reason, err := clichain.Reason(""), test.session(t, p)
					if err != nil {
						var failed *clichain.BackendError
						require.ErrorAs(t, err, &failed)
						reason = failed.Reason
						if reason == clichain.ReasonCoolingDown {
							require.WithinDuration(t, time.Now().Add(30*time.Second), failed.RetryAfter, 30*time.Second)
						}
					}
					reasons = append(reasons, reason)
				}
				require.Equal(t, test.want, reasons)
			})
		})
	}
}

// An answer clears earlier failures, and a session that its caller ends is no failure.
func TestSessionBreakerCountsConsecutiveFailures(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	p := agentOf(t, "threads", "", patient)
	for i, text := range []string{"die now", "die now", "say hi", "die now", "die now", "", "", "", "say hi"} {
		s := live.New(p, nil)
		require.NoError(t, s.Start(t.Context()), i)
		if text != "" {
			_, err := s.Ask(t.Context(), text)
			require.Equal(t, text == "say hi", err == nil, i)
		}
		s.Kill()
	}
}

// Prompts that crash the CLI open the breaker only if clichain's own probe fails too, so that the sessions of
// one caller do not affect other callers.
func TestSessionBreakerNeedsFailedProbe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manners string
		prompts []string
		want    clichain.Reason // of the session after the prompts
		tokens  int64           // of that session's usage
	}{
		"the same prompt":                        {prompts: []string{"crash now", "crash now", "crash now", "crash now"}},
		"different prompts, probe answered":      {manners: "cold", prompts: []string{"crash 1", "crash 2", "crash 3"}, tokens: 3},
		"different prompts, probe fails":         {prompts: []string{"crash 1", "crash 2", "crash 3"}, want: clichain.ReasonCoolingDown},
		"a success between":                      {prompts: []string{"crash 1", "crash 2", "say hi", "crash 3", "crash 4"}},
		"too few different prompts, one repeats": {prompts: []string{"crash 1", "crash 2", "crash 1", "crash 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			atOnce(t, func(t *testing.T, dialect string) {
				p := agentOf(t, dialect, test.manners, patient)
				for _, text := range test.prompts {
					s := live.New(p, nil)
					require.NoError(t, s.Start(t.Context()))
					_, err := s.Ask(t.Context(), text)
					require.Equal(t, text == "say hi", err == nil)
					s.Kill()
				}
				s := live.New(p, nil)
				t.Cleanup(s.Kill)
				err := s.Start(t.Context())
				if test.want != "" {
					var failed *clichain.BackendError
					require.ErrorAs(t, err, &failed)
					require.Equal(t, test.want, failed.Reason)
					return
				}
				require.NoError(t, err)
				require.Equal(t, test.tokens, s.Status().Usage.InputTokens)
				_, err = s.Ask(t.Context(), "say hi")
				require.NoError(t, err)
			})
		})
	}
}
