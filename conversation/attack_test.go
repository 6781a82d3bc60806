package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

// hanging is a backend whose session holds the message, and that answers only after release.
type hanging struct {
	*fake
	release chan struct{}
}

func (h hanging) Name() string { return h.name }

func (h hanging) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(h.Stream(ctx, req))
}

func (h hanging) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Stream(ctx, func(ctx context.Context, emit func(clichain.Event)) (*clichain.Response, error) {
		emit(clichain.Event{Kind: clichain.EventStart, Backend: h.name})
		emit(clichain.Event{Kind: clichain.EventDelta, Backend: h.name, Text: "par"})
		select {
		case <-h.release:
			return h.answer(ctx, req)
		case <-ctx.Done():
			h.next = func(clichain.Request) (*call.Error, bool) {
				return &call.Error{Reason: clichain.ReasonCanceled, Err: ctx.Err(), Stage: call.StageStarted}, true
			}
			defer func() { h.next = func(clichain.Request) (*call.Error, bool) { return nil, true } }()
			return h.answer(ctx, req)
		}
	})
}

// A canceled turn, and one whose reader stops, leave the message in the session. The same message asks for its answer.
func TestCanceledTurn(t *testing.T) {
	for name, cancel := range map[string]func(*testing.T, *conversation.Conversation){
		"by its context": func(t *testing.T, c *conversation.Conversation) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := c.Send(ctx, "one")
			require.ErrorIs(t, err, clichain.ErrCanceled)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		},
		"by its reader": func(t *testing.T, c *conversation.Conversation) {
			for e, err := range c.Stream(t.Context(), "one") {
				require.NoError(t, err)
				if e.Kind == clichain.EventDelta {
					break
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hanging{newFake("a"), make(chan struct{})}
				c := conversation.New(h, nil)
				cancel(t, c)
				require.Len(t, c.Messages(), 1)
				close(h.release)
				send(t, c, "one", "a")
				require.Contains(t, h.last(), "did not arrive")
				require.Len(t, h.sessions, 1)
			})
		})
	}
}

// After a panic of the reader, the session may hold the message or not, so the conversation leaves it.
func TestPanicOfTheReader(t *testing.T) {
	h := hanging{newFake("a"), make(chan struct{})}
	c := conversation.New(h, nil)
	close(h.release)
	send(t, c, "one", "a")
	require.PanicsWithValue(t, "reader", func() {
		for range c.Stream(t.Context(), "two") {
			panic("reader")
		}
	})
	require.Empty(t, c.Threads()[0].Session)
	send(t, c, "two", "a")
	require.Equal(t, "user: one\nassistant: a answers 1\nuser: two", textOf(h.requests[len(h.requests)-1]))
	require.Len(t, c.Messages(), 4)
}

func TestTurnsRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hanging{newFake("a"), make(chan struct{})}
		c := conversation.New(h, nil)
		var running sync.WaitGroup
		for i := range 5 {
			running.Go(func() {
				_, err := c.Send(t.Context(), fmt.Sprintf("message %d", i))
				require.NoError(t, err)
			})
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Send(short, "late")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "another turn of the conversation is running")
		close(h.release)
		running.Wait()
		require.Len(t, c.Messages(), 10)
		require.Len(t, h.sessions, 1)
		for i, m := range c.Messages() {
			require.Equal(t, i%2 == 0, m.Role == clichain.RoleUser)
		}
	})
}

func TestHugeMessages(t *testing.T) {
	huge := strings.Repeat("x", 10<<20)
	a, b := newFake("a"), newFake("b")
	c := conversation.New(chain(a, b), nil)
	send(t, c, "one", "a")
	send(t, c, huge, "a")
	require.Equal(t, "user: "+huge, a.last(), "the message itself has no limit")
	a.next = func(clichain.Request) (*call.Error, bool) { return skipped.err, false }
	send(t, c, "three", "b")
	require.Less(t, len(b.last()), conversation.DefaultMaxBytes)
	require.Less(t, len(saved(t, c)), conversation.DefaultMaxBytes)
	require.Len(t, c.Messages(), 2)
	require.Equal(t, 4, c.Dropped())
}

func TestSummary(t *testing.T) {
	var got [][]clichain.Message
	var failure error
	cfg := &conversation.Config{MaxBytes: 600, Summarize: func(_ context.Context, dropped []clichain.Message) (string, error) {
		got = append(got, dropped)
		return fmt.Sprintf("summary %d", len(got)), failure
	}}
	a, b := newFake("a"), newFake("b")
	c := conversation.New(chain(a, b), cfg)
	for i := range 12 {
		send(t, c, fmt.Sprintf("message %d", i), "a")
	}
	require.Greater(t, len(got), 1)
	require.Equal(t, "message 0", got[0][0].Content)
	require.Contains(t, got[len(got)-1][0].Content, fmt.Sprintf("summary %d", len(got)-1), "a summary contains the earlier one")
	a.next = func(clichain.Request) (*call.Error, bool) { return skipped.err, false }
	send(t, c, "last", "b")
	require.Contains(t, b.last(), fmt.Sprintf("summary %d\n", len(got)))

	failure = errors.New("no model")
	for {
		resp := send(t, c, strings.Repeat("y", 100), "b")
		if len(resp.Warnings) > 0 {
			require.Contains(t, resp.Warnings[0], "dropped without a summary: no model")
			break
		}
	}
}

// If all backends fail and one of them refuses the length, the turn runs once more with half of the messages.
func TestContextOverflow(t *testing.T) {
	a, b := newFake("a", ok, ok, ok, ok, long, ok, ok), newFake("b", skipped, skipped, skipped)
	c := conversation.New(chain(a, b), nil)
	for i := range 4 {
		send(t, c, fmt.Sprintf("message %d", i), "a")
	}
	resp := send(t, c, "message 4", "a")
	require.Len(t, resp.Attempts, 2)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrContextOverflow)
	text := a.sessions[resp.Session][0]
	require.Regexp(t, `^user: \(The first \d messages of this conversation are left out\.\)\nuser: message \d`, text)
	require.Contains(t, text, "user: message 4")
	require.NotContains(t, text, "message 0")
	require.Len(t, c.Messages(), 10, "the conversation keeps all messages for other backends")
	send(t, c, "message 5", "a")
	require.Len(t, a.sessions[resp.Session], 2)

	alone := newFake("a", long, long)
	_, err := conversation.New(alone.backend(), nil).Send(t.Context(), "too long")
	require.ErrorIs(t, err, clichain.ErrContextOverflow)
	require.Equal(t, 1, alone.calls, "there is nothing to leave out")
}

// The next backend learns which files an agent wrote, and not those that it read.
func TestChangedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows allows no quotes and line breaks in the names of files")
	}
	dir := t.TempDir()
	write := func(name string, at time.Time) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	write("old.go", time.Now().Add(-time.Hour))
	a, b := newFake("a"), newFake("b")
	inputs := []string{
		`{"file_path":"old.go"}`, `{"changes":[{"path":"new.go","kind":"add"}]}`, `{"path":"missing.go"}`, `{"path":"/etc/passwd"}`,
		`{"path":"../x"}`, `{"path":"."}`, `[1,null,{"filePath":` + quote(filepath.Join(dir, "a \"b\"\n.go")) + `}]`, `{"path":7}`, `{`, "",
	}
	acting := starting{a.backend(), func() {
		write("new.go", time.Now())
		write("a \"b\"\n.go", time.Now())
	}}
	cfg := &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite, Dir: dir}}
	c := conversation.New(tools{acting, inputs}, cfg)
	send(t, c, "write", "a")
	c, err := conversation.Load(strings.NewReader(saved(t, c)), b.backend(), cfg)
	require.NoError(t, err)
	resp := send(t, c, "next", "b")
	require.Equal(t, "a", resp.HandedOver)
	require.Equal(t, "user: write\nassistant: a answers 1\n\n"+
		`(Files on the disk that an agent changed in this turn: "a \"b\"\n.go", "new.go")`+"\nuser: next", b.last())
	require.Equal(t, "a answers 1", c.Messages()[1].Content)
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// tools is a backend that reports uses of tools before its answer.
type tools struct {
	clichain.Backend
	inputs []string
}

func (b tools) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for _, input := range b.inputs {
			if !yield(clichain.Event{Kind: clichain.EventToolUse, Backend: b.Name(), Name: "tool", Input: json.RawMessage(input)}, nil) {
				return
			}
		}
		b.Backend.Stream(ctx, req)(yield)
	}
}

func TestInvalidSettings(t *testing.T) {
	a := newFake("a")
	prompt := clichain.Prompt("hi")
	for name, test := range map[string]struct {
		backend clichain.Backend
		req     clichain.Request
		want    error
	}{
		"no backend":    {nil, clichain.Request{}, clichain.ErrBadOption},
		"messages":      {a.backend(), prompt, clichain.ErrBadOption},
		"threads":       {a.backend(), clichain.Request{Threads: []call.Thread{{Backend: "a"}}}, clichain.ErrBadOption},
		"session id":    {a.backend(), clichain.Request{Options: clichain.Options{SessionID: "x"}}, clichain.ErrBadOption},
		"continue":      {a.backend(), clichain.Request{Options: clichain.Options{Continue: true}}, clichain.ErrBadOption},
		"wrong session": {a.backend(), clichain.Request{Session: "?"}, clichain.ErrBadSession},
	} {
		_, err := conversation.New(test.backend, &conversation.Config{Request: test.req}).Send(t.Context(), "hi")
		require.ErrorIs(t, err, test.want, name)
	}
	require.Zero(t, a.calls)
	_, err := conversation.New(a.backend(), nil).Send(t.Context(), "a\x00b")
	require.ErrorIs(t, err, clichain.ErrBadRequest)
}

// A conversation can begin in a session that exists already.
func TestConversationOfASession(t *testing.T) {
	a := newFake("a")
	first, err := a.backend().Complete(t.Context(), clichain.Prompt("before"))
	require.NoError(t, err)
	c := conversation.New(a.backend(), &conversation.Config{Request: clichain.Request{
		Session: first.Session, Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "S"}},
	}})
	resp := send(t, c, "one", "a")
	require.Equal(t, first.Session, resp.Session)
	require.Equal(t, "system: S\nuser: one", a.last())
}
