package failover_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

// told lists the outcome of each backend, and when the call ended.
func told(t *testing.T, err error) (list []string) {
	t.Helper()
	var ce *clichain.ChainError
	require.ErrorAs(t, err, &ce)
	for _, a := range ce.Attempts {
		list = append(list, fmt.Sprintf("%s %v", a.Reason, a.Duration))
	}
	return list
}

// Every backend that is asked has enough time. The chain skips a backend that cannot have it.
func TestBudgetNeverStarves(t *testing.T) {
	t.Parallel()
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for name, test := range map[string]struct {
		cfg    clichain.ChainConfig
		caller time.Duration
		takes  []time.Duration // time of each backend; negative: it fails after that time
		answer int             // index of the backend that answers; -1: none
		over   time.Duration
		asked  int
	}{
		"all are healthy":         {clichain.ChainConfig{}, second(10), []time.Duration{second(2.5), second(2.5), second(2.5), second(2.5), second(2.5)}, 0, second(2.5), 1},
		"the first hangs":         {clichain.ChainConfig{}, second(30), []time.Duration{second(99), second(4), 0, 0, 0}, 1, second(22), 2},
		"the first two hang":      {clichain.ChainConfig{}, second(30), []time.Duration{second(99), second(99), second(4), 0, 0}, 2, second(27), 3},
		"no time for the fourth":  {clichain.ChainConfig{}, second(30), []time.Duration{second(99), second(99), second(99), 0, 0}, -1, second(28), 3},
		"no time for the second":  {clichain.ChainConfig{}, second(10), []time.Duration{second(99), 0}, -1, second(9), 1},
		"failures leave time":     {clichain.ChainConfig{}, second(10), []time.Duration{-second(1), -second(1), second(2)}, 2, second(4), 3},
		"a short call goes on":    {clichain.ChainConfig{}, second(4), []time.Duration{-second(1), second(2)}, 1, second(3), 2},
		"more than half is left":  {clichain.ChainConfig{}, second(4), []time.Duration{-second(1.79), second(1)}, 1, second(2.79), 2}, // of 3.6 s
		"less than half is left":  {clichain.ChainConfig{}, second(4), []time.Duration{-second(1.81), 0}, -1, second(1.81), 1},
		"but not with a remnant":  {clichain.ChainConfig{}, second(4), []time.Duration{-second(3), 0}, -1, second(3), 1},
		"own minimum":             {clichain.ChainConfig{Budget: second(10), MinAttempt: second(2)}, 0, []time.Duration{second(99), second(99), second(99), 0}, -1, second(10), 3},
		"own minimum is too much": {clichain.ChainConfig{Budget: second(3), MinAttempt: second(4)}, 0, []time.Duration{0, 0}, -1, 0, 0},
		"own minimum just enough": {clichain.ChainConfig{Budget: second(4), MinAttempt: second(4)}, 0, []time.Duration{second(3), 0}, 0, second(3), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if test.caller > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.caller)
				}
				defer cancel()
				var list []clichain.Backend
				for i, takes := range test.takes {
					b := &chaintest.Backend{ID: fmt.Sprint(i), Takes: takes}
					if takes < 0 {
						b = chaintest.Failing(fmt.Sprint(i), clichain.ReasonExit)
						b.Takes = -takes
					}
					list = append(list, b)
				}
				start := time.Now()
				resp, err := clichain.ChainOf(list, &test.cfg).Complete(ctx, clichain.Prompt("hi"))
				require.Equal(t, test.over, time.Since(start).Round(time.Millisecond))
				if test.answer >= 0 {
					require.NoError(t, err)
					require.Equal(t, fmt.Sprint(test.answer), resp.Backend)
				} else {
					for _, line := range told(t, err)[test.asked:] {
						require.Equal(t, "budget_spent 0s", line)
					}
				}
				for i, b := range list {
					require.Equal(t, i < test.asked, b.(*chaintest.Backend).Asked > 0, "backend %d", i)
				}
			})
		})
	}
}

// The message names the attempt's own time, also for the last attempt.
func TestTimeoutNamesItsOwnSlice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(name string) clichain.Backend { return &chaintest.Backend{ID: name, Takes: time.Hour} }
		inner := clichain.ChainOf([]clichain.Backend{hang("b"), hang("c")}, nil)
		_, err := clichain.ChainOf([]clichain.Backend{hang("a"), inner}, &clichain.ChainConfig{Budget: 30 * time.Second, MinAttempt: 12 * time.Second}).
			Complete(t.Context(), clichain.Prompt("hi"))
		for _, want := range []string{"timeout after 18s", "timeout after 7s", "timeout after 5s"} {
			require.ErrorContains(t, err, want)
		}
		require.Equal(t, []string{"timeout 18s", "timeout 12s"}, told(t, err))
	})
}

// A CLI that ignores SIGINT and SIGTERM is killed by the deadline of the call. The documentation allows one second.
func TestHardDeadline(t *testing.T) {
	t.Parallel()
	deaf := func(t *testing.T, name string) clichain.Backend {
		return chaintest.Provider(t, chaintest.Named(specs.Codex(), name), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Ignore: []string{"INT", "TERM"}}, clitest.Step{Hang: true}))
	}
	for name, test := range map[string]struct {
		cfg    clichain.ChainConfig
		caller bool
		chain  bool
	}{
		"provider":          {caller: true},
		"chain":             {caller: true, chain: true},
		"budget":            {cfg: clichain.ChainConfig{Budget: 4 * time.Second}, chain: true},
		"one after another": {cfg: clichain.ChainConfig{MinAttempt: time.Second}, caller: true, chain: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			took := func() time.Duration {
				b := deaf(t, "first")
				if test.chain {
					b = clichain.ChainOf([]clichain.Backend{b, deaf(t, "second")}, &test.cfg)
				}
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				if test.caller {
					ctx, cancel = context.WithTimeout(ctx, 4*time.Second)
				}
				defer cancel()
				_, err := b.Complete(ctx, clichain.Prompt("hi"))
				require.ErrorIs(t, err, clichain.ErrTimeout)
				return time.Since(start)
			}
			best := took()
			for n := 0; n < 3 && best >= 5*time.Second; n++ { // a busy machine gets more attempts
				best = min(best, took())
			}
			testtime.Took(t, best, 5*time.Second)
			require.Greater(t, best, 2*time.Second, "a slow machine may leave too little for another attempt")
		})
	}
}

// A CLI that ignores signals at its timeout is killed half a second later. With the full grace periods it would live
// for two seconds.
func TestTimeoutOfACLIThatIgnoresSignals(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	took := func() time.Duration {
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Timeout: timeout}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Ignore: []string{"INT", "TERM"}}, clitest.Step{Hang: true}))
		start := time.Now()
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrTimeout)
		return time.Since(start)
	}
	best := took()
	for n := 0; n < 3 && best >= timeout+1500*time.Millisecond; n++ { // a busy machine gets more attempts
		best = min(best, took())
	}
	testtime.Took(t, best, timeout+1500*time.Millisecond)
	require.GreaterOrEqual(t, best, timeout)
	t.Logf("%v for a timeout of %v", best, timeout)
}

// A Nix build ends its step after 30 s, so the chain ends earlier.
func TestChainInsideNix(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  clichain.ChainConfig
		over time.Duration
	}{
		"by default": {clichain.ChainConfig{}, 25 * time.Second},
		"own budget": {clichain.ChainConfig{Budget: time.Minute}, time.Minute},
		"no budget":  {clichain.ChainConfig{Budget: -1}, 2 * time.Hour},
		"no sandbox": {clichain.ChainConfig{Config: clichain.Config{Sandbox: clichain.SandboxOff}}, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NIX_BUILD_TOP", "/build")
			t.Setenv("IN_NIX_SHELL", "")
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				list := []clichain.Backend{&chaintest.Backend{ID: "a", Takes: time.Hour, Err: chaintest.Failing("a", clichain.ReasonExit).Err}, &chaintest.Backend{ID: "b", Takes: time.Hour, Err: chaintest.Failing("b", clichain.ReasonExit).Err}}
				_, err := clichain.ChainOf(list, &test.cfg).Complete(t.Context(), clichain.Prompt("hi"))
				require.Error(t, err)
				require.Equal(t, test.over, time.Since(start))
			})
		})
	}
}
