package conversation_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

// A session holds the message as soon as its model has begun to answer, and not before.
func TestSessionHoldsMessageOnceModelBegins(t *testing.T) {
	for kind, holds := range map[clichain.EventKind]bool{
		clichain.EventThinking: true, clichain.EventDelta: true, clichain.EventText: true, clichain.EventToolUse: true,
		clichain.EventStatus: false, clichain.EventWarning: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			var c *conversation.Conversation
			var during []call.Thread
			a := starting{newFake("a").backend(), func() { during = c.Threads() }}
			c = conversation.New(beginning{a, []clichain.Event{
				{Kind: clichain.EventStart, Backend: "a"}, {Kind: clichain.EventSession, Backend: "a", Session: "s1"},
				{Kind: kind, Backend: "a"},
			}}, nil)
			send(t, c, "one", "a")
			want := []call.Thread{{Backend: "a", Session: "a.czE", Messages: 1, Interrupted: true}}
			if !holds {
				want = nil
			}
			require.Equal(t, want, during)
		})
	}
}

// A checkpoint can write a file, so a turn has one when its message may reach the backend, and one when a session holds it.
func TestCheckpointsAreFew(t *testing.T) {
	checkpoints, before := 0, 0
	cfg := &conversation.Config{Checkpoint: func(*conversation.Conversation) { checkpoints++ }}
	a := starting{newFake("a").backend(), func() { before = checkpoints }}
	delta := clichain.Event{Kind: clichain.EventDelta, Backend: "a"}
	send(t, conversation.New(beginning{a, []clichain.Event{
		{Kind: clichain.EventStart, Backend: "a"}, {Kind: clichain.EventSession, Backend: "a", Session: "s1"}, delta, delta, delta,
	}}, cfg), "one", "a")
	require.Equal(t, 3, before) // starting starts the backend once more
}

// A reader that has stopped gets no shorter turn.
func TestNoShorterTurnWithoutReader(t *testing.T) {
	b := telling{newFake("a", ok, ok, long), true}
	c := conversation.New(b, nil)
	for _, text := range []string{"one", "two", "three"} {
		for _, err := range c.Stream(t.Context(), text) {
			require.NoError(t, err)
			if text == "three" {
				break
			}
		}
	}
	require.Equal(t, 3, b.calls)
}

// A backend may return the same response again, so the conversation changes only its own copy.
func TestResponseOfBackendIsUnchanged(t *testing.T) {
	shared := &clichain.Response{Text: "yes"}
	c := conversation.New(sharing{newFake("a").backend(), shared}, nil)
	resp := send(t, c, "one", "a")
	require.Equal(t, "a", resp.Backend)
	require.Equal(t, &clichain.Response{Text: "yes"}, shared)
}

// sharing is a backend that always returns one response.
type sharing struct {
	clichain.Backend
	resp *clichain.Response
}

func (s sharing) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		yield(clichain.Event{Kind: clichain.EventDone, Response: s.resp}, nil)
	}
}

// A message that a session holds remains, also if the next attempts do not start.
func TestMessageHeldEarlierRemains(t *testing.T) {
	a := newFake("a", ok, limited, skipped)
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	for range 2 {
		_, err := c.Send(t.Context(), "two")
		require.Error(t, err)
		require.Len(t, c.Messages(), 3)
	}
	send(t, c, "two", "a")
	require.Contains(t, a.last(), "did not arrive")
	require.Len(t, c.Messages(), 4)
}

// A message that is sent again keeps the files of its earlier attempts.
func TestFilesOfEachAttempt(t *testing.T) {
	dir := t.TempDir()
	a := newFake("a", acted, acted)
	var c *conversation.Conversation
	for _, name := range []string{"one.go", "two.go"} {
		acting := &tools{starting{a.backend(), func() {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		}}, []string{fmt.Sprintf(`{"path":%q}`, name)}}
		cfg := &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite, Dir: dir}}
		if c == nil {
			c = conversation.New(acting, cfg)
		} else {
			loaded, err := conversation.Load(strings.NewReader(saved(t, c)), acting, cfg)
			require.NoError(t, err)
			c = loaded
		}
		_, err := c.Send(t.Context(), "write")
		require.Error(t, err)
	}
	require.Contains(t, saved(t, c), `"files":["one.go","two.go"]`)
}

// A record that is saved during a turn does not change the conversation.
func TestSaveDuringTurnChangesNothing(t *testing.T) {
	var c *conversation.Conversation
	var before, after []call.Thread
	a := newFake("a")
	c = conversation.New(starting{a.backend(), func() {
		before = c.Threads()
		saved(t, c)
		after = c.Threads()
	}}, nil)
	send(t, c, "one", "a")
	send(t, c, "two", "a")
	require.Equal(t, "a.czE", before[0].Session)
	require.Equal(t, before, after)
}

// A backend of another package can report a session that is none. The conversation continues without it.
func TestFailureWithInvalidSession(t *testing.T) {
	failing := clichain.BackendFunc("a", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &call.Error{Backend: "a", Reason: clichain.ReasonServerError, Stage: call.StageStarted, Session: "no session"}
	})
	c := conversation.New(failing, nil)
	for range 2 {
		_, err := c.Send(t.Context(), "one")
		require.ErrorIs(t, err, clichain.ErrServerError)
		require.Empty(t, c.Messages())
	}
}

// A message with the text of the previous answer is another message.
func TestMessageThatRepeatsAnswer(t *testing.T) {
	c := conversation.New(sharing{newFake("a").backend(), &clichain.Response{Text: "yes"}}, nil)
	send(t, c, "Is it?", "a")
	send(t, c, "yes", "a")
	require.Len(t, c.Messages(), 4)
}

func TestMessageNamesFewFiles(t *testing.T) {
	dir := t.TempDir()
	acting := &tools{newFake("a", acted, acted).backend(), nil}
	c := conversation.New(acting, &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite, Dir: dir}})
	for attempt, named := range []int{50, 50, 100} { // the last one is answered, and the answer names files too
		acting.inputs = nil
		for i := range 60 {
			name := fmt.Sprintf("%d-%d.go", attempt, i)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			acting.inputs = append(acting.inputs, fmt.Sprintf(`{"path":%q}`, name))
		}
		_, err := c.Send(t.Context(), "write")
		require.Equal(t, attempt < 2, err != nil)
		require.Equal(t, named, strings.Count(saved(t, c), ".go"))
	}
}
