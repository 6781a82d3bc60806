package clichain_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestChainFallsBackInOrder(t *testing.T) {
	first, second, third := chaintest.Failing("a", clichain.ReasonRateLimited), chaintest.Failing("b", clichain.ReasonSuppressed), &chaintest.Backend{ID: "c"}
	fourth := &chaintest.Backend{ID: "d"}
	resp, err := chaintest.ChainOf(first, second, third, fourth).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "from c", resp.Text)
	require.Len(t, resp.Attempts, 2)
	require.Equal(t, "a", resp.Attempts[0].Backend)
	require.False(t, resp.Attempts[0].Skipped)
	require.True(t, resp.Attempts[1].Skipped)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrRateLimited)
	require.Zero(t, fourth.Asked)
}

// The decision table determines which failures let the chain continue with the next backend.
func TestChainFollowsTheDecisionTable(t *testing.T) {
	for reason, goesOn := range map[clichain.Reason]bool{
		clichain.ReasonSuppressed: true, clichain.ReasonNotInstalled: true, clichain.ReasonUnsupported: true,
		clichain.ReasonModelMismatch: true, clichain.ReasonCoolingDown: true, clichain.ReasonBudgetSpent: true,
		clichain.ReasonReserved:        true,
		clichain.ReasonUnauthenticated: true, clichain.ReasonUntrustedDir: true, clichain.ReasonPermissionRefused: true,
		clichain.ReasonNestedSession: true, clichain.ReasonRateLimited: true, clichain.ReasonUsageLimit: true,
		clichain.ReasonBilling: true, clichain.ReasonOverloaded: true, clichain.ReasonServerError: true,
		clichain.ReasonNetwork: true, clichain.ReasonTimeout: true, clichain.ReasonIdleTimeout: true,
		clichain.ReasonFirstOutputTimeout: true, clichain.ReasonBadModel: true, clichain.ReasonContextOverflow: true,
		clichain.ReasonBadOutput: true, clichain.ReasonEmpty: true, clichain.ReasonExit: true, clichain.ReasonKilled: true,
		clichain.ReasonOutputLimit: true, clichain.ReasonSpawn: true,
		clichain.ReasonBadRequest: false, clichain.ReasonBadOption: false, clichain.ReasonCanceled: false,
	} {
		t.Run(string(reason), func(t *testing.T) {
			next := &chaintest.Backend{ID: "next"}
			_, err := chaintest.ChainOf(chaintest.Failing("a", reason), next).Complete(t.Context(), clichain.Prompt("hi"))
			require.Equal(t, goesOn, err == nil)
			require.Equal(t, goesOn, next.Asked == 1)
		})
	}
}

func TestFailedChainReachesEveryAttempt(t *testing.T) {
	inner := clichain.ChainOf([]clichain.Backend{chaintest.Failing("deep", clichain.ReasonBilling)}, &clichain.ChainConfig{Name: "inner"})
	stranger := &chaintest.Backend{ID: "s", Err: fs.ErrClosed}
	c := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonSuppressed), inner, stranger, chaintest.Failing("b", clichain.ReasonTimeout)}, nil)
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	for _, target := range []error{clichain.ErrSuppressed, clichain.ErrBilling, clichain.ErrTimeout, fs.ErrClosed} {
		require.ErrorIs(t, err, target)
	}
	require.False(t, errors.Is(err, clichain.ErrRateLimited))
	var gathered *multierror.Error
	require.ErrorAs(t, err, &gathered)
	require.Len(t, gathered.Errors, 4, "a nested chain is one attempt")
	var ce *clichain.ChainError
	require.ErrorAs(t, err, &ce)
	require.Len(t, ce.Attempts, 4)
	require.Equal(t, clichain.ReasonTimeout, ce.Reason())
	require.True(t, ce.Attempts[0].Skipped)
	require.Equal(t, clichain.ReasonBilling, ce.Attempts[1].Reason)
}

func TestChainRefusesBadRequestsBeforeAnyBackend(t *testing.T) {
	b := &chaintest.Backend{ID: "a"}
	_, err := chaintest.ChainOf(b).Complete(t.Context(), clichain.Request{})
	require.ErrorIs(t, err, clichain.ErrBadOption)
	require.Zero(t, b.Asked)
}

func TestEmptyChain(t *testing.T) {
	_, err := clichain.NewChain(nil, nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorContains(t, err, "no backends")
}

func TestChainStopsWhenTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(5*time.Second, cancel).Stop()
		slow, next := &chaintest.Backend{ID: "slow", Takes: time.Hour}, &chaintest.Backend{ID: "next"}
		_, err := chaintest.ChainOf(slow, next).Complete(ctx, clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrCanceled)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, next.Asked)
	})
}

func TestChainBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := &chaintest.Backend{ID: "queue", Takes: time.Hour, Stubborn: 10 * time.Second}
		never := &chaintest.Backend{ID: "never"}
		c := clichain.ChainOf([]clichain.Backend{queue, never}, &clichain.ChainConfig{Budget: 10 * time.Second})
		start := time.Now()
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		require.Equal(t, 10*time.Second, time.Since(start))
		require.ErrorIs(t, err, clichain.ErrBudgetSpent)
		require.Zero(t, never.Asked)
		var ce *clichain.ChainError
		require.ErrorAs(t, err, &ce)
		require.Len(t, ce.Attempts, 2, "what was not reached is listed too")
		require.True(t, ce.Attempts[1].Skipped)
	})
}

// A later backend still gets its minimum, and the caller gets the error in time.
func TestChainSplitsItsTime(t *testing.T) {
	for name, test := range map[string]struct {
		cfg    clichain.ChainConfig
		caller time.Duration
		first  time.Duration // time of the slow backend
	}{
		"a budget":              {clichain.ChainConfig{Budget: 30 * time.Second}, 0, 25 * time.Second},
		"another minimum":       {clichain.ChainConfig{Budget: 30 * time.Second, MinAttempt: 12 * time.Second}, 0, 18 * time.Second},
		"a short one":           {clichain.ChainConfig{Budget: 4 * time.Second, MinAttempt: time.Second}, 0, 3 * time.Second},
		"the caller's deadline": {clichain.ChainConfig{}, 30 * time.Second, 23 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.caller)
					defer cancel()
				}
				slow, next := &chaintest.Backend{ID: "slow", Takes: time.Hour}, &chaintest.Backend{ID: "next"}
				skipped := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "/nonexistent/codex"})
				start := time.Now()
				resp, err := clichain.ChainOf([]clichain.Backend{slow, skipped, next}, &test.cfg).Complete(ctx, clichain.Prompt("hi"))
				require.NoError(t, err)
				require.Equal(t, "from next", resp.Text)
				require.Equal(t, test.first, time.Since(start), "who cannot answer needs no time")
				require.Equal(t, test.first, resp.Attempts[0].Duration)
			})
		})
	}
	t.Run("no backend is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			start := time.Now()
			_, err := chaintest.ChainOf(&chaintest.Backend{ID: "slow", Takes: time.Hour}).Complete(ctx, clichain.Prompt("hi"))
			require.Equal(t, 28*time.Second, time.Since(start))
			require.NoError(t, ctx.Err(), "the caller hears of it before his deadline")
			require.ErrorIs(t, err, clichain.ErrTimeout)
		})
	})
}

func TestChainNeverRepeatsSideEffects(t *testing.T) {
	first := chaintest.Failing("a", clichain.ReasonTimeout)
	first.Err.(*clichain.BackendError).SideEffects = true
	next := &chaintest.Backend{ID: "next"}
	_, err := chaintest.ChainOf(first, next).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrTimeout)
	require.Zero(t, next.Asked)
}

func TestChainStream(t *testing.T) {
	t.Run("fallback before text", func(t *testing.T) {
		resp, err := call.Collect(chaintest.ChainOf(chaintest.Failing("a", clichain.ReasonExit), &chaintest.Backend{ID: "b", Text: "fr"}).Stream(t.Context(), clichain.Prompt("hi")))
		require.NoError(t, err)
		require.Equal(t, "from b", resp.Text)
		require.Len(t, resp.Attempts, 1)
	})
	t.Run("no fallback after text", func(t *testing.T) {
		first, next := chaintest.Failing("a", clichain.ReasonExit), &chaintest.Backend{ID: "b"}
		first.Text = "half an ans"
		_, err := call.Collect(chaintest.ChainOf(first, next).Stream(t.Context(), clichain.Prompt("hi")))
		require.ErrorIs(t, err, clichain.ErrExit)
		require.Zero(t, next.Asked)
	})
}

// A whole chain with real processes: logged out, at its limit, answers.
func TestChainOfProcesses(t *testing.T) {
	clitest.NoLeaks(t)
	c := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, specs.Claude(), clichain.Config{}, recorded(t, "claude/stream-loggedout")),
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, recorded(t, "codex/stream-429")),
		chaintest.Provider(t, specs.OpenCode(), clichain.Config{}, recorded(t, "opencode/stream-ok")),
	}, nil)
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "opencode", resp.Backend)
	require.Equal(t, "Bonjour 中文 😀 done", resp.Text)
	require.Equal(t, []clichain.Reason{clichain.ReasonUnauthenticated, clichain.ReasonRateLimited},
		[]clichain.Reason{resp.Attempts[0].Reason, resp.Attempts[1].Reason})
}

func TestOneBinaryForManyBackendsIsRefused(t *testing.T) {
	c := clichain.NewChain(specs.All(), &clichain.ChainConfig{Config: clichain.Config{Binary: "/bin/true"}})
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBadOption)
	require.ErrorContains(t, err, "config.binary")
}

// A caller's mistake is the reason of the chain, whatever was skipped before it.
func TestAMistakeIsTheChainsReason(t *testing.T) {
	broken := clichain.NewProvider(clichain.CliSpec{Name: "broken"}, nil)
	_, err := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonNotInstalled), broken}, nil).Complete(t.Context(), clichain.Prompt("hi"))
	var ce *clichain.ChainError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, clichain.ReasonBadOption, ce.Reason())
	require.False(t, ce.Tried())
}

func TestReady(t *testing.T) {
	good, bad := &chaintest.Backend{ID: "good"}, clichain.NewProvider(clichain.CliSpec{Name: "gone", Binary: "/nowhere/gone"}, nil)
	require.NoError(t, chaintest.Nest(bad, chaintest.Nest(bad, good)).Ready(t.Context()))
	require.Zero(t, good.Asked, "nobody is asked")
	err := chaintest.Nest(bad, chaintest.Nest(bad)).Ready(t.Context())
	ce, ok := errors.AsType[*clichain.ChainError](err)
	require.True(t, ok)
	require.Len(t, ce.Attempts, 2)
	require.True(t, ce.Attempts[0].Skipped)
	require.ErrorIs(t, err, clichain.ErrNotInstalled)
	require.Error(t, chaintest.Nest().Ready(t.Context()))
}
