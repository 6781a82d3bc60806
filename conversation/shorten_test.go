package conversation_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

func TestMessagesWithoutLimit(t *testing.T) {
	a := newFake("a")
	c := conversation.New(a.backend(), &conversation.Config{MaxBytes: -1})
	for range 3 {
		send(t, c, strings.Repeat("x", conversation.DefaultMaxBytes), "a")
	}
	require.Zero(t, c.Dropped())
	require.Len(t, c.Messages(), 6)
}

// A summary leaves half of the limit free, so that the next turns need none.
func TestSummaryLeavesHalf(t *testing.T) {
	summaries := 0
	cfg := &conversation.Config{MaxBytes: 4000, Summarize: func(context.Context, []clichain.Message) (string, error) {
		summaries++
		return "summary", nil
	}}
	a := newFake("a")
	c := conversation.New(a.backend(), cfg)
	for summaries == 0 {
		send(t, c, strings.Repeat("x", 100), "a")
	}
	require.Less(t, len(textOf(c.Request())), 2000)
}

// The turn after a refused length has at most half of the bytes, not one message less.
func TestContextOverflowHalves(t *testing.T) {
	a := newFake("a", ok, ok, ok, ok, ok, ok, ok, ok, long)
	c := conversation.New(a.backend(), nil)
	for range 8 {
		send(t, c, strings.Repeat("x", 200), "a")
	}
	whole := len(textOf(c.Request()))
	resp := send(t, c, "last", "a")
	require.Less(t, len(a.sessions[resp.Session][0]), whole/2+100)
}

// telling is a backend that delivers text before it fails, and may take it back.
type telling struct {
	*fake
	takesBack bool
}

func (b telling) Name() string { return b.name }

func (b telling) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(b.Stream(ctx, req))
}

func (b telling) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Stream(ctx, func(ctx context.Context, emit func(clichain.Event)) (*clichain.Response, error) {
		emit(clichain.Event{Kind: clichain.EventDelta, Backend: b.name, Text: "par"})
		if b.takesBack {
			emit(clichain.Event{Kind: clichain.EventReset, Backend: b.name})
		}
		return b.answer(ctx, req)
	})
}

// After delivered text there is no shorter turn, unless the backend took the text back.
func TestNoShorterTurnAfterText(t *testing.T) {
	for name, takesBack := range map[string]bool{"delivered text": false, "text that was taken back": true} {
		t.Run(name, func(t *testing.T) {
			b := telling{newFake("a", ok, ok, long), takesBack}
			c := conversation.New(b, nil)
			for _, text := range []string{"one", "two"} {
				for _, err := range c.Stream(t.Context(), text) {
					require.NoError(t, err)
				}
			}
			var failure error
			for _, err := range c.Stream(t.Context(), "three") {
				failure = err
			}
			if takesBack {
				require.NoError(t, failure)
				require.Equal(t, 4, b.calls)
				return
			}
			require.ErrorIs(t, failure, clichain.ErrContextOverflow)
			require.Equal(t, 3, b.calls)
		})
	}
}

// Backends of an inner chain count like the others, for the length and for changes.
func TestInnerChain(t *testing.T) {
	longAgent := outcome{&call.Error{Reason: clichain.ReasonContextOverflow, Stage: call.StageStarted, SideEffects: true}, true}
	for _, test := range []struct {
		name   string
		inner  []outcome
		outer  outcome
		calls  int // of the inner backend, with two turns before
		failed bool
	}{
		{"length refused by an inner backend", []outcome{ok, ok, long}, skipped, 4, false},
		{"length refused by an outer backend", []outcome{ok, ok, limited}, long, 4, false},
		{"inner backend that may have changed something", []outcome{ok, ok, longAgent}, skipped, 3, true},
		{"outer backend that may have changed something", []outcome{ok, ok, long}, acted, 3, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := newFake("a", test.inner...), newFake("b", test.outer)
			inner := clichain.ChainOf([]clichain.Backend{a.backend()}, &clichain.ChainConfig{Name: "inner", NoCooldown: true})
			c := conversation.New(clichain.ChainOf([]clichain.Backend{inner, b.backend()}, &clichain.ChainConfig{NoCooldown: true}), nil)
			send(t, c, "one", "a")
			send(t, c, "two", "a")
			_, err := c.Send(t.Context(), "three")
			require.Equal(t, test.failed, err != nil)
			require.Equal(t, test.calls, a.calls)
		})
	}
}

// A message names the files of an agent that failed, without those outside the directory.
func TestFilesOfFailedTurn(t *testing.T) {
	t.Run("session that holds the message", func(t *testing.T) { testFilesOfFailedTurn(t, acted) })
	t.Run("unknown session", func(t *testing.T) { testFilesOfFailedTurn(t, outcome{acted.err, false}) })
}

func testFilesOfFailedTurn(t *testing.T, failure outcome) {
	t.Setenv("SOME_API_KEY", "correct-horse-battery-9")
	top := t.TempDir()
	dir := filepath.Join(top, "work")
	require.NoError(t, os.Mkdir(dir, 0o700))
	a, b := newFake("a", failure, limited), newFake("b")
	names := []string{"correct-horse-battery-9.go", "new.go", filepath.Join("..", "outside.go")}
	inputs := make([]string, len(names))
	for i, name := range names {
		inputs[i] = fmt.Sprintf(`{"path":%q}`, name)
	}
	acting := &tools{starting{a.backend(), func() {
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			now := time.Now()
			require.NoError(t, os.Chtimes(filepath.Join(dir, name), now, now))
		}
	}}, inputs}
	chain := clichain.ChainOf([]clichain.Backend{acting, b.backend()}, &clichain.ChainConfig{NoCooldown: true})
	c := conversation.New(chain, &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite, Dir: dir}})
	_, err := c.Send(t.Context(), "write")
	require.Error(t, err)
	record := saved(t, c)
	require.Contains(t, record, `"[redacted].go"`)
	require.NotContains(t, record, "battery")
	acting.inputs = nil
	send(t, c, "write", "b")
	require.Contains(t, b.last(), `an agent changed in this turn: "correct-horse-battery-9.go", "new.go")`)
}

func TestMessageWithoutText(t *testing.T) {
	a, b := newFake("a", ok, skipped), newFake("b")
	c := conversation.New(chain(a, b), nil)
	send(t, c, "one", "a")
	for _, text := range []string{"", " \n\t"} {
		_, err := c.Send(t.Context(), text)
		require.ErrorIs(t, err, clichain.ErrBadOption)
		require.ErrorContains(t, err, "the message has no text")
		require.ErrorIs(t, c.Add(t.Context(), text, &clichain.Response{}, nil), clichain.ErrBadOption)
	}
	require.Equal(t, 1, a.calls)
	require.Zero(t, b.calls)
	require.Len(t, c.Messages(), 2)
}

// A session of an inner chain holds the message too, so the same message asks for its answer.
func TestFailedInnerChain(t *testing.T) {
	a := newFake("a", ok, limited)
	inner := clichain.ChainOf([]clichain.Backend{a.backend()}, &clichain.ChainConfig{Name: "inner", NoCooldown: true})
	c := conversation.New(clichain.ChainOf([]clichain.Backend{inner}, &clichain.ChainConfig{NoCooldown: true}), nil)
	send(t, c, "one", "a")
	_, err := c.Send(t.Context(), "two")
	require.ErrorIs(t, err, clichain.ErrRateLimited)
	require.True(t, c.Threads()[0].Interrupted)
	send(t, c, "two", "a")
	require.Contains(t, a.last(), "did not arrive")
}
