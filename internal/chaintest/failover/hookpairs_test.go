package failover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// recorder records the calls of its hooks. Its func values are the same in each copy of the hooks.
type recorder struct {
	mu   sync.Mutex
	told []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (r *recorder) hooks() *clichain.Hooks {
	return &clichain.Hooks{
		CallStart: func(context.Context, clichain.Request) { r.note("call") },
		CallEnd: func(_ context.Context, resp *clichain.Response, err error) {
			r.note("over %t %t", resp != nil, err != nil)
		},
		AttemptStart: func(_ context.Context, name string) { r.note("start %s", name) },
		AttemptEnd: func(_ context.Context, a clichain.Attempt) {
			r.note("end %s %s", a.Backend, a.Reason)
		},
		Skip:   func(_ context.Context, a clichain.Attempt) { r.note("skip %s %s", a.Backend, a.Reason) },
		Answer: func(_ context.Context, resp *clichain.Response) { r.note("answer %s", resp.Backend) },
	}
}

func TestHooksComeInPairs(t *testing.T) {
	t.Parallel()
	missing := clichain.NewProvider(specs.Gemini(), &clichain.Config{Binary: "/nonexistent/gemini"})
	a, b := chaintest.Failing("a", clichain.ReasonRateLimited), &chaintest.Backend{ID: "b"}
	for name, test := range map[string]struct {
		backends []clichain.Backend
		want     []string
	}{
		"an answer": {[]clichain.Backend{missing, a, b}, []string{
			"call", "skip gemini not_installed", "start a", "end a rate_limited", "start b", "end b", "answer b", "over true false",
		}},
		"no answer": {[]clichain.Backend{a}, []string{"call", "start a", "end a rate_limited", "over false true"}},
		"nobody":    {nil, []string{"call", "over false true"}},
		"an answer of a chain inside": {[]clichain.Backend{chaintest.Nest(missing, a, b)}, []string{
			"call", "skip gemini not_installed", "start a", "end a rate_limited", "start b", "end b", "answer b", "over true false",
		}},
		"no answer of a chain inside": {[]clichain.Backend{chaintest.Nest(chaintest.Nest(missing, a)), b}, []string{
			"call", "skip gemini not_installed", "start a", "end a rate_limited", "start b", "end b", "answer b", "over true false",
		}},
		"a chain inside that is refused": {[]clichain.Backend{chaintest.Nest(), b}, []string{"call", "skip chain", "start b", "end b", "answer b", "over true false"}},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			_, _ = clichain.ChainOf(test.backends, &clichain.ChainConfig{Hooks: r.hooks(), NoCooldown: true}).Complete(t.Context(), clichain.Prompt("hi"))
			require.Equal(t, test.want, r.told)
		})
	}
}

// The same hooks in both chains are called once for each run. Other hooks of the inner chain are called as well.
func TestHooksOfNestedChains(t *testing.T) {
	t.Parallel()
	var shared, own recorder
	hooks := shared.hooks()
	inner := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonRateLimited), &chaintest.Backend{ID: "b"}},
		&clichain.ChainConfig{Hooks: hooks, NoCooldown: true})
	_, err := clichain.ChainOf([]clichain.Backend{inner}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	want := []string{"call", "start a", "end a rate_limited", "start b", "end b", "answer b", "over true false"}
	require.Equal(t, want, shared.told)

	shared.told = nil
	inner = clichain.ChainOf(inner.Backends(), &clichain.ChainConfig{Hooks: own.hooks(), NoCooldown: true})
	_, err = clichain.ChainOf([]clichain.Backend{inner}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, want, shared.told)
	require.Equal(t, want, own.told)

	shared.told, own.told = nil, nil
	inner = clichain.ChainOf(inner.Backends(), &clichain.ChainConfig{Hooks: clichain.JoinHooks(own.hooks(), hooks), NoCooldown: true})
	_, err = clichain.ChainOf([]clichain.Backend{inner}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, want, shared.told, "joined with others in the chain inside")
	require.Equal(t, want, own.told)

	shared.told = nil
	hidden := clichain.BackendFunc("hidden", clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "b"}}, &clichain.ChainConfig{Hooks: hooks}).Complete)
	_, err = clichain.ChainOf([]clichain.Backend{hidden}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"call", "start hidden", "call", "start b", "end b", "answer b", "over true false", "end hidden", "answer b", "over true false",
	}, shared.told, "a chain that no chain sees tells for itself")
}

func TestHooksEndForAReaderWhoLeaves(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	t.Run("func", func(t *testing.T) {
		var r recorder
		c := clichain.ChainOf([]clichain.Backend{clichain.BackendFunc("a", answering("x"))}, &clichain.ChainConfig{Hooks: r.hooks()})
		for range c.Stream(t.Context(), clichain.Prompt("hi")) {
			break
		}
		require.Equal(t, []string{"call", "start a", "end a canceled", "over false true"}, r.told)
	})
	t.Run("process", func(t *testing.T) {
		var r recorder
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(codexSays("let me look")), clitest.Step{Hang: true}))
		for e := range clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Hooks: r.hooks()}).Stream(t.Context(), clichain.Prompt("hi")) {
			if e.Kind == clichain.EventStart {
				break
			}
		}
		require.Equal(t, []string{"call", "start codex", "end codex canceled", "over false true"}, r.told)
	})
}

func TestAnAnsweringAttemptIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var end clichain.Attempt
		hooks := &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) { end = a }}
		slow := clichain.BackendFunc("slow", func(context.Context, clichain.Request) (*clichain.Response, error) {
			time.Sleep(3 * time.Second)
			return &clichain.Response{Text: "x", Usage: clichain.Usage{Turns: 2}}, nil
		})
		_, err := clichain.ChainOf([]clichain.Backend{slow}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, clichain.Attempt{Backend: "slow", Duration: 3 * time.Second, Usage: clichain.Usage{Turns: 2}}, end)
	})
}

func TestJoinHooks(t *testing.T) {
	t.Parallel()
	var first, second recorder
	hooks := clichain.JoinHooks(first.hooks(), nil, second.hooks(), &clichain.Hooks{
		AttemptEnd: func(context.Context, clichain.Attempt) {
			require.Equal(t, "end a billing", second.told[len(second.told)-1], "in this order")
		},
		Event: func(context.Context, clichain.Event) { second.note("event") },
		Cooldown: func(_ context.Context, name string, reason clichain.Reason, _ time.Time) {
			second.note("cools %s %s", name, reason)
		},
	})
	_, err := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonBilling)}, &clichain.ChainConfig{Hooks: hooks}).
		Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBilling)
	require.Equal(t, []string{"call", "start a", "end a billing", "over false true"}, first.told)
	require.ElementsMatch(t, append(first.told, "event", "event", "cools a billing"), second.told)

	_, err = clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "b"}}, &clichain.ChainConfig{Hooks: clichain.JoinHooks()}).
		Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err, "of none")
}

func TestNilLoggersAreFine(t *testing.T) {
	t.Parallel()
	hooks := clichain.JoinHooks(clichain.LogHooks(nil), clichain.LogHooks(nil))
	_, err := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonBilling), &chaintest.Backend{ID: "b"}}, &clichain.ChainConfig{Hooks: hooks}).
		Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
}

// An error has one form in a log, whatever its source, and a bounded size.
func TestErrorsInLogs(t *testing.T) {
	t.Parallel()
	be := &clichain.BackendError{
		Backend: "a", Reason: clichain.ReasonExit, ExitCode: 3, Message: "it broke", Hint: "mend it", Partial: "half an answer",
		Stderr: strings.Repeat("x", 130_000) + "the end", RetryAfter: time.Unix(1, 0).UTC(),
	}
	attempt := clichain.Attempt{Backend: "a", Reason: be.Reason, Err: be}
	chain := &clichain.ChainError{Attempts: []clichain.Attempt{attempt, {Backend: "b", Reason: clichain.ReasonEmpty, Err: errors.New("hm")}}}
	logged := func(value any) (map[string]any, string) {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("m", "error", value)
		require.Less(t, log.Len(), 3000)
		require.NotContains(t, log.String(), "half an answer")
		var record map[string]any
		require.NoError(t, json.Unmarshal(log.Bytes(), &record))
		group, ok := record["error"].(map[string]any)
		require.True(t, ok, log.String())
		return group, log.String()
	}
	form, _ := logged(be)
	require.Subset(t, form, map[string]any{
		"backend": "a", "reason": "exit", "message": "it broke", "hint": "mend it", "exit_code": 3.0, "retry_after": "1970-01-01T00:00:01Z",
	})
	require.Regexp(t, "^… x+the end$", form["stderr"])
	inAttempt, _ := logged(attempt)
	require.Equal(t, form, inAttempt["error"])
	ofChain, _ := logged(chain)
	require.Equal(t, map[string]any{
		"reason": "empty", "message": "clichain: no backend answered (2 tried, 0 skipped)", "attempts": []any{"a exit it broke [mend it]", "b empty hm"},
	}, ofChain)
	plain, _ := logged(clichain.Attempt{Backend: "b", Err: errors.New("hm")})
	require.Equal(t, "hm", plain["error"].(map[string]any)["message"])

	data, err := json.Marshal(attempt)
	require.NoError(t, err)
	require.Less(t, len(data), 5000)
	require.Contains(t, string(data), "the end")
	require.Len(t, be.Stderr, 130_007, "the error itself has all that was kept")
}
