package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/quota"
)

type testKey struct{}

// hooked records the calls of hooks in short form, except those of Event. It checks that all hooks of a turn get the
// same context, which has the value of testKey.
func hooked(t *testing.T) (told *[]string, hooks *clichain.Hooks) {
	told = new([]string)
	var turn context.Context
	events := 0
	note := func(ctx context.Context, format string, args ...any) {
		require.True(t, turn == ctx)
		*told = append(*told, fmt.Sprintf(format, args...))
	}
	return told, &clichain.Hooks{
		CallStart: func(ctx context.Context, req clichain.Request) {
			require.False(t, turn == ctx, "each turn has another context")
			require.Equal(t, "value", ctx.Value(testKey{}))
			turn, events = ctx, 0
			note(ctx, "call %s", req.Messages[len(req.Messages)-1].Content)
		},
		AttemptStart: func(ctx context.Context, backend string) { note(ctx, "start %s", backend) },
		Event: func(ctx context.Context, e clichain.Event) {
			require.True(t, turn == ctx)
			if e.Kind == clichain.EventDelta || e.Kind == clichain.EventText {
				events++
			}
		},
		AttemptEnd: func(ctx context.Context, a clichain.Attempt) { note(ctx, "end %s %s", a.Backend, a.Reason) },
		Skip:       func(ctx context.Context, a clichain.Attempt) { note(ctx, "skip %s", a.Backend) },
		Answer: func(ctx context.Context, resp *clichain.Response) {
			require.Positive(t, events)
			note(ctx, "answer %s", resp.Text)
		},
		CallEnd: func(ctx context.Context, resp *clichain.Response, err error) {
			require.Equal(t, resp == nil, err != nil)
			note(ctx, "over")
		},
	}
}

func TestSessionHooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		told, hooks := hooked(t)
		ctx := context.WithValue(t.Context(), testKey{}, "value")
		begun := func() {}
		s := started(t, dialect, "", &live.Config{Hooks: clichain.JoinHooks(hooks, &clichain.Hooks{
			AttemptStart: func(context.Context, string) { begun() },
		})})
		ask := func(text string) []string {
			_, _ = s.Ask(ctx, text)
			list := slices.Clone(*told)
			*told = nil
			return list
		}
		require.Equal(t, []string{"call say hi", "start lumen", "end lumen ", "answer hi", "over"}, ask("say hi"))
		require.Equal(t, []string{"call fail 500 internal server error", "start lumen", "end lumen server_error", "over"}, ask("fail 500 internal server error"))
		canceled, cancel := context.WithCancel(ctx)
		begun = cancel
		_, err := s.Ask(canceled, "hang")
		requireReason(t, clichain.ReasonCanceled, err)
		require.Equal(t, []string{"call hang", "start lumen", "end lumen canceled", "over"}, ask("say hi")[:4])
	})
}

func TestSessionHooksOfCorrectedAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		told, hooks := hooked(t)
		cfg := withSchema(clichain.AccessNone, "")
		cfg.Hooks = hooks
		s := started(t, dialect, "", cfg)
		_, err := s.Ask(context.WithValue(t.Context(), testKey{}, "value"), "mend Hello "+word)
		require.NoError(t, err)
		require.Equal(t, []string{
			"call mend Hello " + word, "start lumen", "end lumen bad_output", "start lumen", "end lumen ", "answer " + word, "over",
		}, *told)
	})
}

func TestTurnsInCallLog(t *testing.T) {
	t.Parallel()
	log, err := calllog.Open(t.TempDir(), &calllog.Config{Content: true, OnError: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	cfg := withSchema(clichain.AccessNone, "")
	cfg.Hooks, cfg.Request.Model = log.Hooks(), "small"
	s := started(t, "control", "", cfg)
	for _, text := range []string{"say " + word, "fail 500 internal server error", "mend Hello " + word} {
		_, _ = s.Ask(t.Context(), text)
	}
	var told []string
	for r, err := range log.Records(calllog.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, "lumen", r.Backend)
		require.NotEmpty(t, r.Model)
		require.Positive(t, r.Duration)
		told = append(told, fmt.Sprintf("%s %s %s %d %d", r.Prompt[0].Content, r.Answer, r.Reason, len(r.Attempts), r.Usage.InputTokens))
	}
	require.Equal(t, []string{
		"say " + word + " " + word + "  1 3", "fail 500 internal server error  server_error 1 3", "mend Hello " + word + " " + word + "  2 6",
	}, told)
	report, err := log.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.EqualValues(t, 3, report.Records)
}

// A chain with the same store finds the windows of the account.
func TestSessionKeepsUsageWindows(t *testing.T) {
	each(t, func(t *testing.T, dialect string) {
		store := cooldown.NewMemory()
		p := agentWith(t, usageSpec(dialect), dialect, "", patient)
		s := live.New(p, &live.Config{Store: store})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		chain := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: store})
		require.Empty(t, chain.Quota(t.Context(), p))
		for i, text := range []string{"recall it", "fail 500 internal server error"} {
			_, err := s.Ask(t.Context(), text)
			require.Equal(t, i > 0, err != nil)
			requireShare(t, 0.1*float64(i+1), chain.Quota(t.Context(), p))
		}
		quotas, err := store.Quotas(t.Context())
		require.NoError(t, err)
		require.Len(t, quotas, 1)
	})
}

// brokenQuotas is a store that fails.
type brokenQuotas struct{ *cooldown.Memory }

func (brokenQuotas) UpdateQuota(context.Context, string, func(cooldown.Quota) cooldown.Quota) error {
	return errors.New("broken")
}

func TestSessionWithBrokenStore(t *testing.T) {
	s := live.New(agentWith(t, usageSpec("acp"), "acp", "", patient), &live.Config{Store: brokenQuotas{cooldown.NewMemory()}})
	t.Cleanup(s.Kill)
	require.NoError(t, s.Start(t.Context()))
	resp, err := s.Ask(t.Context(), "recall it")
	require.NoError(t, err)
	require.Len(t, resp.Quota, 1)
}

// The calls of a chain of pooled processes store their windows, and a later chain leaves the reserve.
func TestPoolChainKeepsUsageWindows(t *testing.T) {
	each(t, func(t *testing.T, dialect string) {
		store := cooldown.NewMemory()
		p := agentWith(t, usageSpec(dialect), dialect, "", patient)
		pool := live.NewPool([]*clichain.Provider{p}, &live.PoolConfig{Wait: time.Minute})
		t.Cleanup(func() { require.Empty(t, pool.Close().Left) })
		chain := func(reserve float64) *clichain.Chain {
			return clichain.ChainOf(pool.Backends(), &clichain.ChainConfig{Store: store, Reserve: quota.Reserve{Share: reserve}})
		}
		resp, err := chain(0.95).Complete(t.Context(), clichain.Prompt("recall it"))
		require.NoError(t, err)
		require.Equal(t, 1, pool.Stats().Warm)
		requireShare(t, 0.1, resp.Quota)
		requireShare(t, 0.1, chain(0).Quota(t.Context(), p))
		_, err = chain(0.95).Complete(t.Context(), clichain.Prompt("recall it"))
		requireReason(t, clichain.ReasonReserved, err)
		_, err = chain(0.8).Complete(t.Context(), clichain.Prompt("recall it"))
		require.NoError(t, err)
		require.Equal(t, 2, pool.Stats().Warm)
	})
}

// A panic of a hook cancels the turn and reaches the caller, as in a call of a chain. The session continues.
func TestSessionHookPanics(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]func(explode func()) *clichain.Hooks{
		"call start": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{CallStart: func(context.Context, clichain.Request) { explode() }}
		},
		"attempt start": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{AttemptStart: func(context.Context, string) { explode() }}
		},
		"event of the CLI": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{Event: func(_ context.Context, e clichain.Event) {
				if e.Kind == clichain.EventDelta {
					explode()
				}
			}}
		},
		"attempt end": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{AttemptEnd: func(context.Context, clichain.Attempt) { explode() }}
		},
		"answer": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{Answer: func(context.Context, *clichain.Response) { explode() }}
		},
		"call end": func(explode func()) *clichain.Hooks {
			return &clichain.Hooks{CallEnd: func(context.Context, *clichain.Response, error) { explode() }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var armed atomic.Bool
			s := started(t, "control", "", &live.Config{Hooks: hooks(func() {
				if armed.Load() {
					panic("hook")
				}
			})})
			armed.Store(true)
			text := "say hi"
			if name == "event of the CLI" {
				text = "hang" // until the panic cancels the turn
			}
			require.PanicsWithValue(t, "hook", func() { _, _ = s.Ask(t.Context(), text) })
			turn, err := s.Send("say hi")
			require.NoError(t, err)
			for range 2 {
				require.PanicsWithValue(t, "hook", func() { _, _ = turn.Wait(t.Context()) })
			}
			armed.Store(false)
			resp, err := s.Ask(t.Context(), "say hello")
			require.NoError(t, err)
			require.Equal(t, "hello", resp.Text)
		})
	}
}
