package reserve_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/quota"
	"github.com/clichain/clichain/specs"
)

// reporter reports the usage of its plan with each answer or error. Unwrap returns the Provider whose account has the
// plan.
type reporter struct {
	*chaintest.Backend
	windows []call.QuotaWindow
}

func (r *reporter) Unwrap() clichain.Backend {
	return clichain.NewProvider(clichain.CliSpec{Name: r.ID, Binary: r.ID}, &clichain.Config{Account: "of " + r.ID})
}

func (*reporter) Available(context.Context) error { return nil }

func (r *reporter) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	resp, err := r.Backend.Complete(ctx, req)
	if err == nil {
		resp.Quota = r.windows
		return resp, nil
	}
	failed := *call.AsError(r.ID, err)
	failed.Quota = r.windows
	return nil, &failed
}

func (r *reporter) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		resp, err := r.Complete(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	})
}

// reports returns a backend whose plan resets after a time.
func reports(name string, used float64, resetsIn time.Duration) *reporter {
	w := call.QuotaWindow{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: time.Now().Add(resetsIn)}
	return &reporter{&chaintest.Backend{ID: name}, []call.QuotaWindow{w}}
}

// askOnce returns the name of the backend that answered, or the error.
func askOnce(t *testing.T, c *clichain.Chain) (string, error) {
	t.Helper()
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	if err != nil {
		return "", err
	}
	return resp.Backend, nil
}

func requireAsked(t *testing.T, c *clichain.Chain, want string) {
	t.Helper()
	got, err := askOnce(t, c)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A backend of which only the reserve is left is skipped until its window resets.
func TestReserveSkipsBackend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, next := reports("a", 0.69, 2*time.Hour), &chaintest.Backend{ID: "next"}
		c := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Reserve: quota.Reserve{Share: 0.3}})
		requireAsked(t, c, "a")
		*a.windows[0].Used = 0.7
		requireAsked(t, c, "a")
		reset := a.windows[0].ResetsAt
		for range 2 {
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "next", resp.Backend)
			require.Equal(t, clichain.ReasonReserved, resp.Attempts[0].Reason)
			require.True(t, resp.Attempts[0].Skipped)
			skip := chaintest.RequireReason(t, clichain.ReasonReserved, c.Check(t.Context(), a, clichain.Prompt("hi")))
			require.True(t, reset.Equal(skip.RetryAfter))
			require.Equal(t, call.StageSkipped, skip.Stage)
		}
		require.Equal(t, 2, a.Asked)
		require.NoError(t, c.Ready(t.Context()))
		time.Sleep(2 * time.Hour)
		*a.windows[0].Used = 0
		requireAsked(t, c, "a")
	})
}

// If every backend is reserved, the error of the call has the earliest time at which a call is permitted.
func TestReserveOfEveryBackend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		third   clichain.Backend
		message string
	}{
		"and no other":  {chaintest.Failing("gone", clichain.ReasonNotInstalled), "every eligible backend is reserved, the first of them until "},
		"or a cooldown": {chaintest.Failing("limited", clichain.ReasonUsageLimit), "every eligible backend is in cooldown or is reserved, the first of them until "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := reports("a", 0.7, 2*time.Hour), reports("b", 0.9, time.Minute)
				a.Err = &clichain.BackendError{Reason: clichain.ReasonBadModel}
				c := clichain.ChainOf([]clichain.Backend{test.third, a, b}, &clichain.ChainConfig{Reserve: quota.Reserve{Share: 0.3}})
				requireAsked(t, c, "b")
				_, err := askOnce(t, c)
				be := chaintest.RequireReason(t, clichain.ReasonReserved, err)
				require.True(t, b.windows[0].ResetsAt.Equal(be.RetryAfter))
				require.Contains(t, be.Message, test.message)
				chain, ok := errors.AsType[*clichain.ChainError](err)
				require.True(t, ok)
				require.Equal(t, clichain.ReasonReserved, chain.Reason())
				require.True(t, b.windows[0].ResetsAt.Equal(chain.RetryAfter()))
				require.False(t, chain.Tried())
			})
		})
	}
}

// The windows of each attempt count, whatever its outcome was.
func TestReserveKnowsEveryAttempt(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, clichain.Request, *clichain.Response) error { return errors.New("no") }
	for name, test := range map[string]struct {
		err clichain.Reason
		cfg clichain.ChainConfig
	}{
		"answered":              {},
		"without cooldowns":     {cfg: clichain.ChainConfig{NoCooldown: true}},
		"at the limit":          {err: clichain.ReasonUsageLimit, cfg: clichain.ChainConfig{NoCooldown: true}},
		"failed":                {err: clichain.ReasonBadModel},
		"refused by the caller": {cfg: clichain.ChainConfig{Accept: refuse}},
		"in a store without windows": {cfg: clichain.ChainConfig{
			Store: &chaintest.StalledStore{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := reports("a", 0.8, time.Hour)
				if test.err != "" {
					a.Err = &clichain.BackendError{Reason: test.err}
				}
				cfg := test.cfg
				cfg.Reserve.Share = 0.3
				c := clichain.ChainOf([]clichain.Backend{a}, &cfg)
				_, _ = askOnce(t, c)
				_, err := askOnce(t, c)
				chaintest.RequireReason(t, clichain.ReasonReserved, err)
				require.ErrorIs(t, c.Ready(t.Context()), clichain.ErrReserved)
				require.Equal(t, 1, a.Asked)
			})
		})
	}
}

// Another chain with the same store knows the windows, and its own reserve decides.
func TestReserveOfChainsWithOneStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, a := cooldown.NewMemory(), reports("a", 0.8, time.Hour)
		chain := func(r quota.Reserve) *clichain.Chain {
			return clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Store: store, Reserve: r})
		}
		requireAsked(t, chain(quota.Reserve{}), "a")
		for name, reserve := range map[string]quota.Reserve{
			"for all":     {Share: 0.3},
			"for a":       {Backends: map[string]float64{"a": 0.3, "b": 0}},
			"by a rule":   {Rules: []quota.Rule{{Share: 0.3}}},
			"of anything": {Share: 1},
		} {
			_, err := askOnce(t, chain(reserve))
			require.ErrorIs(t, err, clichain.ErrReserved, name)
		}
		requireAsked(t, chain(quota.Reserve{Share: 0.3, Backends: map[string]float64{"a": 0.1}}), "a")
		requireAsked(t, chain(quota.Reserve{}), "a")
		quotas, err := store.Quotas(t.Context())
		require.NoError(t, err)
		require.Len(t, quotas, 1)
		for _, q := range quotas {
			require.Equal(t, []string{"a"}, q.Backends)
			require.InDelta(t, 0.8, *q.Windows[0].Used, 1e-9)
		}
	})
}

// The chain copies the windows: the caller of an earlier call may change its response.
func TestReserveDoesNotUseTheWindowsOfTheCaller(t *testing.T) {
	t.Parallel()
	a := reports("a", 0.8, time.Hour)
	c := clichain.ChainOf([]clichain.Backend{a}, &clichain.ChainConfig{Reserve: quota.Reserve{Share: 0.3}})
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	*resp.Quota[0].Used = 0
	_, err = askOnce(t, c)
	require.ErrorIs(t, err, clichain.ErrReserved)
}

func TestReserveIsValidated(t *testing.T) {
	t.Parallel()
	cfg := clichain.ChainConfig{Reserve: quota.Reserve{Share: 30}}
	for _, err := range []error{cfg.Validate(), clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "a"}}, &cfg).Validate()} {
		be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
		require.Equal(t, "reserve", be.Option)
		require.Contains(t, be.Message, "0.3")
	}
}

// A strategy gets copies of the windows as they are known now.
func TestOrderByHeadroom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := reports("a", 0.5, time.Hour), reports("b", 0.1, time.Hour)
		spoil := func(req clichain.Request, list []order.Candidate) []order.Candidate {
			list = order.Headroom(req, list)
			for _, c := range list {
				for _, w := range c.Quota() {
					*w.Used = 1
				}
			}
			return list
		}
		c := clichain.ChainOf([]clichain.Backend{a, b}, &clichain.ChainConfig{Order: spoil})
		requireAsked(t, c, "a") // nothing is known
		requireAsked(t, c, "a") // b is unknown, and a has something left
		*a.windows[0].Used = 1
		requireAsked(t, c, "a")
		requireAsked(t, c, "b")
		*a.windows[0].Used = 0.5
		requireAsked(t, c, "b")
		time.Sleep(time.Hour) // both windows are empty
		requireAsked(t, c, "a")
	})
}

// The report of a run reaches the other processes of the user, also if they run another program with that login.
func TestReserveAfterReportOfCLI(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "cooldowns.json")
	chaintest.Write(t, home, "sessions/2026/11/25/rollout-1-"+chaintest.AnID+".jsonl", rollout(time.Now(), 75))
	t.Setenv("CODEX_HOME", home)
	chain := func(share float64) *clichain.Chain {
		codex := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes"))))
		cfg := clichain.ChainConfig{Store: cooldown.NewFile(file, nil), Reserve: quota.Reserve{Share: share}}
		return clichain.ChainOf([]clichain.Backend{codex}, &cfg)
	}
	requireAsked(t, chain(0.3), "codex") // nothing is known yet
	_, err := askOnce(t, chain(0.3))
	chaintest.RequireReason(t, clichain.ReasonReserved, err)
	requireAsked(t, chain(0.2), "codex")
}
