package failover_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
)

type answerFunc = func(context.Context, clichain.Request) (*clichain.Response, error)

// custom is a hand-written Backend with only the methods of the interface.
type custom struct {
	name   string
	answer answerFunc
}

func (c custom) Name() string { return c.name }

func (c custom) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return c.answer(ctx, req)
}

func (c custom) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		resp, err := c.answer(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	}
}

// hollow is a Backend whose type can lead to a Provider, but which has none.
type hollow struct {
	*clichain.Provider
	custom custom
}

func (h hollow) Name() string { return h.custom.Name() }

func (h hollow) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return h.custom.Complete(ctx, req)
}

func (h hollow) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return h.custom.Stream(ctx, req)
}

// kinds are the ways to make a Backend from a function.
var kinds = map[string]func(string, answerFunc) clichain.Backend{
	"a func": clichain.BackendFunc,
	"a type": func(name string, answer answerFunc) clichain.Backend { return custom{name, answer} },
	"a type without its Provider": func(name string, answer answerFunc) clichain.Backend {
		return hollow{custom: custom{name, answer}}
	},
}

// everyKind runs a test with a Backend of each kind.
func everyKind(t *testing.T, test func(t *testing.T, backend func(string, answerFunc) clichain.Backend)) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) { test(t, kind) })
	}
}

func answering(text string) answerFunc {
	return func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: text}, nil
	}
}

func TestErrorsOfCustomBackends(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		reason clichain.Reason
		goesOn bool
	}{
		"a wrapped sentinel":             {fmt.Errorf("quota of the day: %w", clichain.ErrRateLimited), clichain.ReasonRateLimited, true},
		"a sentinel":                     {clichain.ErrUsageLimit, clichain.ReasonUsageLimit, true},
		"a sentinel of the request":      {fmt.Errorf("no: %w", clichain.ErrBadRequest), clichain.ReasonBadRequest, false},
		"joined":                         {errors.Join(errors.New("x"), clichain.ErrBilling), clichain.ReasonBilling, true},
		"anything":                       {errors.New("no idea"), clichain.ReasonExit, true},
		"no Reason":                      {&clichain.BackendError{Message: "hm"}, clichain.ReasonExit, true},
		"no Reason, a sentinel":          {&clichain.BackendError{Err: clichain.ErrOverloaded}, clichain.ReasonOverloaded, true},
		"a Reason of its own":            {&clichain.BackendError{Reason: "moon_phase"}, "moon_phase", true},
		"a BackendError, wrapped":        {fmt.Errorf("x: %w", &clichain.BackendError{Reason: clichain.ReasonNetwork}), clichain.ReasonNetwork, true},
		"somebody else's deadline":       {fmt.Errorf("x: %w", context.DeadlineExceeded), clichain.ReasonTimeout, true},
		"a timeout of the network":       {&net.DNSError{Err: "late", IsTimeout: true}, clichain.ReasonTimeout, true},
		"a context that it ended itself": {context.Canceled, clichain.ReasonExit, true},
		"a skip":                         {fmt.Errorf("x: %w", clichain.ErrNotInstalled), clichain.ReasonNotInstalled, true},
	} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
				next := &backendAsked{}
				b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) { return nil, test.err })
				c := clichain.ChainOf([]clichain.Backend{b, clichain.BackendFunc("next", next.answer)}, nil)
				resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				var attempts []clichain.Attempt
				if test.goesOn {
					require.NoError(t, err)
					attempts = resp.Attempts
				} else {
					var chain *clichain.ChainError
					require.ErrorAs(t, err, &chain)
					attempts = chain.Attempts
				}
				require.Equal(t, test.goesOn, next.asked)
				require.Len(t, attempts, 1)
				require.Equal(t, "mine", attempts[0].Backend)
				require.Equal(t, test.reason, attempts[0].Reason)
				require.ErrorIs(t, attempts[0].Err, test.reason.Err(), "the sentinel reaches it")
				require.ErrorIs(t, attempts[0].Err, rootOf(test.err), "and what it was")
				be, ok := errors.AsType[*clichain.BackendError](attempts[0].Err)
				require.True(t, ok)
				require.Equal(t, "mine", be.Backend)
			})
		})
	}
}

// A nil pointer returned as an error cannot be inspected: it ends an attempt without an answer, and does not affect
// an answer.
func TestNilPointersAsErrors(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"backend": (*clichain.BackendError)(nil), "chain": (*clichain.ChainError)(nil)} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
				b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) { return nil, err })
				c := clichain.ChainOf([]clichain.Backend{b, clichain.BackendFunc("next", answering("42"))}, nil)
				resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.NoError(t, err)
				chaintest.RequireReason(t, clichain.ReasonBadOutput, resp.Attempts[0].Err)
			})
			resp, err := clichain.BackendFunc("mine", func(context.Context, clichain.Request) (*clichain.Response, error) {
				return &clichain.Response{Text: "42"}, err
			}).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "42", resp.Text)
		})
	}
}

// rootOf returns the innermost comparable error.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		be, ok := err.(*clichain.BackendError)
		switch {
		case inner != nil:
			err = inner
		case ok && be.Reason == "":
			return clichain.ErrExit
		case ok:
			return be.Reason.Err()
		default:
			return err
		}
	}
}

type backendAsked struct{ asked bool }

func (b *backendAsked) answer(context.Context, clichain.Request) (*clichain.Response, error) {
	b.asked = true
	return &clichain.Response{Text: "next"}, nil
}

func TestTheContextsErrorIsCanceledOrTimeout(t *testing.T) {
	t.Parallel()
	everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
		wait := func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("while asking: %w", ctx.Err())
		}
		t.Run("canceled", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer time.AfterFunc(time.Second, cancel).Stop()
				_, err := clichain.ChainOf([]clichain.Backend{backend("slow", wait)}, nil).Complete(ctx, clichain.Prompt("hi"))
				var chain *clichain.ChainError
				require.ErrorAs(t, err, &chain)
				require.Equal(t, clichain.ReasonCanceled, chain.Attempts[0].Reason)
			})
		})
		t.Run("timeout", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := clichain.ChainConfig{Budget: 20 * time.Second}
				_, err := clichain.ChainOf([]clichain.Backend{backend("slow", wait)}, &cfg).Complete(t.Context(), clichain.Prompt("hi"))
				var chain *clichain.ChainError
				require.ErrorAs(t, err, &chain)
				require.Equal(t, clichain.ReasonTimeout, chain.Attempts[0].Reason)
			})
		})
	})
	t.Run("without a chain", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		b := clichain.BackendFunc("b", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := b.Complete(ctx, clichain.Prompt("hi"))
		chaintest.RequireReason(t, clichain.ReasonTimeout, err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A reported tool counts, whatever the error claims.
func TestToolsOfCustomBackendsAreNotRepeated(t *testing.T) {
	t.Parallel()
	next := &backendAsked{}
	c := clichain.ChainOf([]clichain.Backend{toolUser{}, clichain.BackendFunc("next", next.answer)}, nil)
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessWrite
	_, err := c.Complete(t.Context(), req)
	require.ErrorIs(t, err, clichain.ErrOverloaded)
	require.False(t, next.asked)
}

type toolUser struct{ custom }

func (toolUser) Name() string { return "tool user" }

func (toolUser) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		if yield(clichain.Event{Kind: clichain.EventToolUse, Name: "shell"}, nil) && yield(clichain.Event{Kind: clichain.EventAttempt}, nil) {
			yield(clichain.Event{}, clichain.ErrOverloaded)
		}
	}
}

func TestModelNamesAddressCustomBackends(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][2]string{
		"": {"first", ""}, "mine": {"mine", ""}, "mine/big/one": {"mine", "big/one"}, " mine/big ": {"mine", "big"}, "big": {"first", "big"},
		"deep/big": {"deep", "big"}, "inner/big": {"deep", "big"}, "minee/x": {"first", "minee/x"},
	} {
		t.Run(model, func(t *testing.T) {
			everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
				named := func(name string) clichain.Backend {
					return backend(name, func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
						return &clichain.Response{Text: req.Model + "."}, nil
					})
				}
				inner := clichain.ChainOf([]clichain.Backend{named("deep")}, &clichain.ChainConfig{Name: "inner"})
				c := clichain.ChainOf([]clichain.Backend{named("first"), named("mine"), inner}, nil)
				req := clichain.Prompt("hi")
				req.Model = model
				resp, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, want[0], resp.Backend)
				require.Equal(t, want[1]+".", resp.Text, "what the backend gets")
				require.Equal(t, want[1], resp.Model)
				for _, a := range resp.Attempts {
					require.Equal(t, clichain.ReasonModelMismatch, a.Reason)
				}
			})
		})
	}
}
