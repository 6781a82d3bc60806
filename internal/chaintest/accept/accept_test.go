package accept_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/order"
)

type acceptFunc = func(context.Context, clichain.Request, *clichain.Response) error

var errShort = errors.New("the answer is too short")

// refusing returns a check that refuses the answers of some backends.
func refusing(names ...string) acceptFunc {
	return func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
		for _, name := range names {
			if strings.HasPrefix(resp.Text, "from "+name) {
				return errShort
			}
		}
		return nil
	}
}

// ofUSD returns a backend whose answer has a cost.
func ofUSD(name string, usd float64) *chaintest.Backend {
	return &chaintest.Backend{ID: name, Usage: clichain.Usage{InputTokens: 3, CostUSD: &usd}}
}

// accepting asks a chain whose check is accept.
func accepting(
	t *testing.T, accept acceptFunc, req clichain.Request, cfg clichain.ChainConfig, backends ...clichain.Backend,
) (*clichain.Response, error) {
	t.Helper()
	cfg.Accept = accept
	return clichain.ChainOf(backends, &cfg).Complete(t.Context(), req)
}

func TestChainRejectsAnswer(t *testing.T) {
	t.Parallel()
	resp, err := accepting(t, refusing("a"), clichain.Prompt("hi"), clichain.ChainConfig{}, ofUSD("a", 2), ofUSD("b", 3))
	require.NoError(t, err)
	require.Equal(t, "from b", resp.Text)
	require.Len(t, resp.Attempts, 1)
	a := resp.Attempts[0]
	require.Equal(t, "a", a.Backend)
	require.Equal(t, clichain.ReasonRejected, a.Reason)
	require.False(t, a.Skipped)
	require.InDelta(t, 2, *a.Usage.CostUSD, 0)
	require.InDelta(t, 5, *resp.TotalUsage().CostUSD, 0)
	require.EqualValues(t, 6, resp.TotalUsage().InputTokens)
	require.ErrorIs(t, a.Err, clichain.ErrRejected)
	require.ErrorIs(t, a.Err, errShort)
	be, _ := errors.AsType[*clichain.BackendError](a.Err)
	require.Equal(t, "from a", be.Partial)
	require.Equal(t, "a: rejected: the answer is too short", be.Error())
	require.False(t, be.SideEffects)
}

func TestChainRejectsAllAnswers(t *testing.T) {
	t.Parallel()
	for name, backends := range map[string][]clichain.Backend{
		"one backend":  {ofUSD("a", 2)},
		"two backends": {ofUSD("b", 1), ofUSD("a", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := accepting(t, refusing("a", "b"), clichain.Prompt("hi"), clichain.ChainConfig{}, backends...)
			failed, _ := errors.AsType[*clichain.ChainError](err)
			require.NotNil(t, failed)
			require.Equal(t, clichain.ReasonRejected, failed.Reason())
			require.Len(t, failed.Attempts, len(backends))
			require.ErrorIs(t, err, errShort)
			require.InDelta(t, 2, *failed.Usage().CostUSD, 0)
			require.True(t, failed.RetryAfter().IsZero())
		})
	}
}

func TestChainRejectionFollowsPolicy(t *testing.T) {
	t.Parallel()
	next := &chaintest.Backend{ID: "b"}
	_, err := accepting(t, refusing("a"), clichain.Prompt("hi"), clichain.ChainConfig{
		Policy: map[clichain.Reason]clichain.Rule{clichain.ReasonRejected: {Stop: true}},
	}, &chaintest.Backend{ID: "a"}, next)
	require.ErrorIs(t, err, clichain.ErrRejected)
	require.Zero(t, next.Asked)

	cooling := map[clichain.Reason]clichain.Rule{clichain.ReasonRejected: {Cooldown: cooldown.Rule{Base: time.Minute}}}
	_, err = accepting(t, nil, clichain.Prompt("hi"), clichain.ChainConfig{Policy: cooling}, next)
	require.ErrorContains(t, err, "policy.rejected")
	require.ErrorContains(t, err, "cannot have a cooldown")
}

// The cost of a rejected answer counts for MaxCostUSD.
func TestChainRejectionCountsForMaxCost(t *testing.T) {
	t.Parallel()
	next := &chaintest.Backend{ID: "b"}
	_, err := accepting(t, refusing("a"), clichain.Prompt("hi"), clichain.ChainConfig{MaxCostUSD: 2}, ofUSD("a", 2), next)
	require.ErrorIs(t, err, clichain.ErrBudgetSpent)
	require.Zero(t, next.Asked)
}

// The check can keep and change its arguments.
func TestAcceptGetsCopies(t *testing.T) {
	t.Parallel()
	full := func() *clichain.Response {
		return &clichain.Response{
			Text: "text", Usage: clichain.Usage{CostUSD: new(1.0)}, Warnings: []string{"w"}, Flags: []call.Flag{"f"},
			Metadata: map[string]string{"a": "b"},
			Attempts: []clichain.Attempt{{Backend: "x", Usage: clichain.Usage{CostUSD: new(2.0)}}},
		}
	}
	resp := full()
	clone := resp.Clone()
	require.Equal(t, resp, clone)
	require.NotSame(t, resp.Usage.CostUSD, clone.Usage.CostUSD)
	require.NotSame(t, resp.Attempts[0].Usage.CostUSD, clone.Attempts[0].Usage.CostUSD)
	resp.Changes = &call.Changes{Patch: "p", Files: []call.FileChange{{Path: "f"}}}
	chaintest.RequireNothingShared(t, reflect.ValueOf(*resp.Changes), reflect.ValueOf(*resp.Clone().Changes), "Changes")
	require.NotSame(t, resp.Changes, resp.Clone().Changes)

	req := clichain.Prompt("hi")
	req.Metadata = map[string]string{"a": "b"}
	b := clichain.BackendFunc("b", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return full(), nil
	})
	got, err := accepting(t, func(_ context.Context, req clichain.Request, resp *clichain.Response) error {
		require.Equal(t, "hi", req.Messages[0].Content)
		require.Equal(t, "b", resp.Backend)
		req.Messages[0].Content, req.Metadata["a"], resp.Metadata["a"] = "changed", "changed", "changed"
		resp.Text, resp.Warnings[0], resp.Attempts[0].Backend, *resp.Usage.CostUSD = "", "", "", 9
		return nil
	}, req, clichain.ChainConfig{}, b)
	require.NoError(t, err)
	require.Equal(t, "hi", req.Messages[0].Content)
	require.Equal(t, map[string]string{"a": "b"}, req.Metadata)
	want := full()
	want.Backend, want.Duration, want.Metadata = "b", got.Duration, got.Metadata
	require.Equal(t, want, got)
	require.Equal(t, "b", got.Metadata["a"])
}

func TestAcceptPanics(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"a text":   {"no such field", "the check panicked: no such field"},
		"an error": {errShort, "the check panicked: the answer is too short"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := accepting(t, func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
				if resp.Backend == "a" {
					panic(test.value)
				}
				return nil
			}, clichain.Prompt("hi"), clichain.ChainConfig{}, &chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b"})
			require.NoError(t, err)
			require.Equal(t, "b", resp.Backend)
			be := chaintest.RequireReason(t, clichain.ReasonRejected, resp.Attempts[0].Err)
			require.Equal(t, test.want, be.Message)
			if cause, ok := test.value.(error); ok {
				require.ErrorIs(t, be, cause)
			}
		})
	}
}

// The duration and the cost of a rejected answer count for the order.
func TestRejectionCountsForOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := ofUSD("a", 2)
		a.Takes = time.Second
		var seen []order.Candidate
		c := clichain.ChainOf([]clichain.Backend{a, &chaintest.Backend{ID: "b"}}, &clichain.ChainConfig{
			Accept: refusing("a"),
			Order: func(_ clichain.Request, list []order.Candidate) []order.Candidate {
				seen = list
				return list
			},
		})
		for range 2 {
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
		}
		require.True(t, seen[0].LastLimited.IsZero())
		require.Equal(t, time.Second, seen[0].Duration)
		require.InDelta(t, 2, *seen[0].CostUSD, 0)
	})
}

// A stream delivers the text of an answer before the check.
func TestRejectionInStream(t *testing.T) {
	t.Parallel()
	for name, canReset := range map[string]bool{"without AcceptReset": false, "with AcceptReset": true} {
		t.Run(name, func(t *testing.T) {
			c := clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b"}},
				&clichain.ChainConfig{Accept: refusing("a"), AcceptReset: canReset})
			var kinds []clichain.EventKind
			var resp *clichain.Response
			var failure error
			for e, err := range c.Stream(t.Context(), clichain.Prompt("hi")) {
				kinds = append(kinds, e.Kind)
				resp, failure = e.Response, err
			}
			if !canReset {
				require.ErrorIs(t, failure, clichain.ErrRejected)
				require.ErrorContains(t, failure, "text of a was already delivered")
				require.NotContains(t, kinds, clichain.EventReset)
				return
			}
			require.NoError(t, failure)
			require.Equal(t, "from b", resp.Text)
			require.Equal(t, []clichain.EventKind{
				clichain.EventStart, clichain.EventText, clichain.EventAttempt, clichain.EventStart, clichain.EventReset,
				clichain.EventText, clichain.EventDone,
			}, kinds)
		})
	}
}

// Each chain checks the answers of its backends. The attempts of an inner chain count even if the outer chain
// rejects its answer.
func TestAcceptInNestedChain(t *testing.T) {
	t.Parallel()
	inner := clichain.ChainOf([]clichain.Backend{ofUSD("a", 1), ofUSD("b", 2)},
		&clichain.ChainConfig{Name: "inner", Accept: refusing("a")})
	resp, err := accepting(t, refusing("b"), clichain.Prompt("hi"), clichain.ChainConfig{}, inner, ofUSD("c", 4))
	require.NoError(t, err)
	require.Equal(t, "from c", resp.Text)
	require.InDelta(t, 7, *resp.TotalUsage().CostUSD, 0)
	require.Len(t, resp.Attempts, 2)
	require.Equal(t, []string{"a", "inner"}, []string{resp.Attempts[0].Backend, resp.Attempts[1].Backend})
	require.Equal(t, "b", chaintest.RequireReason(t, clichain.ReasonRejected, resp.Attempts[1].Err).Backend)

	_, err = accepting(t, nil, clichain.Prompt("hi"), clichain.ChainConfig{},
		clichain.ChainOf([]clichain.Backend{ofUSD("a", 1)}, &clichain.ChainConfig{Accept: refusing("a")}))
	require.ErrorIs(t, err, clichain.ErrRejected)
}

// A check can ask another chain, which is no part of the call: it has its own hooks, and the deadline of the attempt.
func TestAcceptAsksAnotherChain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	hooks := &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, a.Backend)
	}}
	judge := clichain.ChainOf([]clichain.Backend{chaintest.Failing("j", clichain.ReasonExit), &chaintest.Backend{ID: "k", Said: "no"}}, nil)
	resp, err := accepting(t, func(ctx context.Context, _ clichain.Request, resp *clichain.Response) error {
		verdict, err := judge.Complete(ctx, clichain.Prompt("is it good? "+resp.Text))
		if err == nil && resp.Backend == "a" {
			err = errors.New(verdict.Text)
		}
		return err
	}, clichain.Prompt("hi"), clichain.ChainConfig{Hooks: hooks}, &chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b"})
	require.NoError(t, err)
	require.Equal(t, "b", resp.Backend)
	require.NotContains(t, seen, "j")
	require.NotContains(t, seen, "k")
}

// A rejected attempt can be stored as JSON.
func TestRejectionAsJSON(t *testing.T) {
	t.Parallel()
	_, err := accepting(t, refusing("a"), clichain.Prompt("hi"), clichain.ChainConfig{}, &chaintest.Backend{ID: "a"})
	failed, _ := errors.AsType[*clichain.ChainError](err)
	text, err := json.Marshal(failed)
	require.NoError(t, err)
	require.Contains(t, string(text), `"reason":"rejected","message":"the answer is too short"`)
	require.Contains(t, string(text), `"partial":"from a"`)
}
