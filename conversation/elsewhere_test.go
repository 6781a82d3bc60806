package conversation_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

// A turn elsewhere is a turn of the conversation: its session is resumed, and another backend gets its messages.
func TestConversationContinuesElsewhere(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	cfg := &conversation.Config{Request: clichain.Request{Model: "m", Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "S"}}}}
	c := conversation.New(chain(a, b), cfg)
	first := send(t, c, "one", "a")

	req := c.Request()
	require.Equal(t, "m", req.Model)
	require.Equal(t, "system: S\nuser: one\nassistant: a answers 1", textOf(req))
	require.Equal(t, []call.Thread{{Backend: "a", Session: first.Session, Messages: 3}}, req.Threads)
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleUser, Content: "two"})
	resp, err := a.backend().Complete(t.Context(), req)
	require.NoError(t, c.Add(t.Context(), "two", resp, err))

	send(t, c, "three", "a")
	require.Equal(t, "system: S\nuser: three", a.last())
	a.next = func(clichain.Request) (*call.Error, bool) { return limited.err, true }
	require.Equal(t, "a", send(t, c, "four", "b").HandedOver)
	require.Equal(t, "system: S\nuser: one\nassistant: a answers 1\nuser: two\nassistant: a answers 2\n"+
		"user: three\nassistant: a answers 3\nuser: four", b.last())
}

// A failed turn elsewhere follows the rules of a failed turn.
func TestConversationAddsFailures(t *testing.T) {
	for name, test := range map[string]struct {
		failure outcome
		kept    int
	}{"held by the session": {limited, 3}, "not sent": {skipped, 2}, "unknown state": {crashed, 2}} {
		t.Run(name, func(t *testing.T) {
			a := newFake("a", ok, test.failure)
			c := conversation.New(a.backend(), nil)
			send(t, c, "one", "a")
			req := c.Request()
			req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleUser, Content: "two"})
			_, err := a.backend().Complete(t.Context(), req)
			require.NoError(t, c.Add(t.Context(), "two", nil, err))
			require.Len(t, c.Messages(), test.kept)
			require.Equal(t, test.kept == 3, c.Threads()[0].Interrupted)
		})
	}
}

// Add changes only its own copy of the response.
func TestConversationAddKeepsResponse(t *testing.T) {
	c := conversation.New(newFake("a").backend(), nil)
	resp := &clichain.Response{Text: "yes"}
	require.NoError(t, c.Add(t.Context(), "one", resp, nil))
	require.Equal(t, &clichain.Response{Text: "yes"}, resp)
	require.Equal(t, "a", c.Threads()[0].Backend)
}

func TestConversationAddRefuses(t *testing.T) {
	c := conversation.New(newFake("a").backend(), nil)
	require.ErrorIs(t, c.Add(t.Context(), "one", nil, nil), clichain.ErrBadOption)
	require.ErrorIs(t, conversation.New(nil, nil).Add(t.Context(), "one", nil, errors.New("x")), clichain.ErrBadOption)
	require.Empty(t, c.Messages())
}

// Request and Add during a turn: the request lacks the session that may change, and Add waits.
func TestConversationElsewhereDuringATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hanging{newFake("a"), make(chan struct{}, 1)}
		c := conversation.New(h, nil)
		h.release <- struct{}{}
		send(t, c, "one", "a")
		done := make(chan error)
		go func() {
			_, err := c.Send(t.Context(), "two")
			done <- err
		}()
		synctest.Wait()
		require.Equal(t, []call.Thread{{Backend: "a"}}, c.Request().Threads)
		require.Equal(t, "user: one\nassistant: a answers 1\nuser: two", textOf(c.Request()))
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := c.Add(short, "three", &clichain.Response{Text: "x"}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		h.release <- struct{}{}
		require.NoError(t, <-done)
		require.NoError(t, c.Add(t.Context(), "three", &clichain.Response{Text: "x"}, nil))
		require.Len(t, c.Messages(), 6)
		require.Equal(t, []call.Thread{{Backend: "a"}}, c.Threads(), "the response has no session")
	})
}
