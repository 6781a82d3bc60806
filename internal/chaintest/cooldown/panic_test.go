package cooldown_test

import (
	"context"
	"iter"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// panicking panics in the goroutine of its caller, or with call.Stream in its own goroutine.
type panicking struct {
	chaintest.Backend
	aside bool
}

func (b *panicking) Stream(ctx context.Context, _ clichain.Request) iter.Seq2[clichain.Event, error] {
	if b.aside {
		return call.Stream(ctx, func(context.Context, func(clichain.Event)) (*clichain.Response, error) { panic("backend") })
	}
	return func(func(clichain.Event, error) bool) { panic("backend") }
}

// explosive is a slog.Handler that panics.
type explosive struct{ slog.Handler }

func (explosive) Enabled(context.Context, slog.Level) bool  { return true }
func (explosive) Handle(context.Context, slog.Record) error { panic("logger") }
func (h explosive) WithAttrs([]slog.Attr) slog.Handler      { return h }

// After a recovered panic the host continues, and nothing of the call remains, whichever part panics.
func TestPanicsCanBeRecovered(t *testing.T) {
	t.Parallel()
	hanging := func(t *testing.T, name string) clichain.Backend {
		return chaintest.Provider(t, chaintest.Named(specs.Codex(), name), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"thread.started","thread_id":"t"}`+"\n"), clitest.Step{Hang: true}))
	}
	for name, test := range map[string]struct {
		first func(t *testing.T, name string) clichain.Backend
		hooks *clichain.Hooks
		want  string
	}{
		"backend": {first: func(*testing.T, string) clichain.Backend { return &panicking{Backend: chaintest.Backend{ID: "a"}} }, want: "backend"},
		"backend with its own stream": {first: func(*testing.T, string) clichain.Backend {
			return &panicking{Backend: chaintest.Backend{ID: "a"}, aside: true}
		}, want: "backend"},
		"event hook": {first: hanging, want: "hook", hooks: &clichain.Hooks{Event: func(context.Context, clichain.Event) { panic("hook") }}},
		"start hook": {first: hanging, want: "hook", hooks: &clichain.Hooks{AttemptStart: func(context.Context, string) { panic("hook") }}},
		"end hook": {
			first: func(*testing.T, string) clichain.Backend { return chaintest.Failing("a", clichain.ReasonExit) }, want: "hook",
			hooks: &clichain.Hooks{AttemptEnd: func(context.Context, clichain.Attempt) { panic("hook") }},
		},
		"cooldown hook": {
			first: func(*testing.T, string) clichain.Backend { return chaintest.Failing("a", clichain.ReasonUsageLimit) }, want: "hook",
			hooks: &clichain.Hooks{Cooldown: func(context.Context, string, clichain.Reason, time.Time) { panic("hook") }},
		},
		"logger": {
			first: func(t *testing.T, name string) clichain.Backend {
				return chaintest.Provider(t, chaintest.Named(specs.Codex(), name), clichain.Config{Logger: slog.New(explosive{slog.DiscardHandler})}, chaintest.Play())
			},
			want: "logger",
		},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			c := clichain.ChainOf([]clichain.Backend{test.first(t, "first"), hanging(t, "second")}, &clichain.ChainConfig{Hooks: test.hooks})
			require.PanicsWithValue(t, test.want, func() { _, _ = c.Complete(t.Context(), clichain.Prompt("hi")) })
		})
	}
}

// If a reader panics, or its goroutine ends in the loop, nothing of the call remains.
func TestChainWithoutAReader(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, leave := range map[string]func(){"panics": func() { panic("reader") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []clichain.Backend
			for _, letter := range []string{"a", "b", "c"} {
				list = append(list, chaintest.Provider(t, chaintest.Named(specs.Codex(), letter), clichain.Config{}, chaintest.Talkative))
			}
			c := clichain.ChainOf(list, nil)
			var reading sync.WaitGroup
			reading.Go(func() {
				defer func() { _ = recover() }()
				for e := range c.Stream(t.Context(), clichain.Prompt("hi")) {
					if e.Kind == clichain.EventRaw {
						leave()
					}
				}
			})
			reading.Wait()
		})
	}
}

// A panic releases the half-open probe.
func TestPanicGivesTheProbeBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := &panicking{Backend: *chaintest.Failing("a", clichain.ReasonUsageLimit)}
	failed := chaintest.Failing("a", clichain.ReasonUsageLimit)
	first := chaintest.OnClock(clichain.ChainOf([]clichain.Backend{failed}, nil), 0.5, func() time.Time { return now })
	_, err := first.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	c := clichain.ChainOf([]clichain.Backend{b}, &clichain.ChainConfig{Store: chaintest.StoreOf(first)})
	state, err := chaintest.StoreOf(first).Load(t.Context(), chaintest.CooldownKey(b, ""))
	require.NoError(t, err)
	chaintest.OnClock(c, 0.5, func() time.Time { return state.Until.Add(time.Second) })
	for range 2 {
		require.PanicsWithValue(t, "backend", func() { _, _ = c.Complete(t.Context(), clichain.Prompt("hi")) })
	}
}
