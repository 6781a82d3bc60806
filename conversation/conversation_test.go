package conversation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

// send sends a message and requires the backend that answers.
func send(t *testing.T, c *conversation.Conversation, text, from string) *clichain.Response {
	t.Helper()
	resp, err := c.Send(t.Context(), text)
	require.NoError(t, err)
	require.Equal(t, from, resp.Backend)
	return resp
}

func TestConversationResumesTheSession(t *testing.T) {
	a := newFake("a")
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	resp := send(t, c, "two", "a")
	require.Empty(t, resp.Flags)
	require.Empty(t, resp.HandedOver)
	require.Equal(t, "user: two", a.last(), "the session holds the first message")
	require.Len(t, a.sessions, 1)
	require.Equal(t, []clichain.Message{
		{Role: clichain.RoleUser, Content: "one"}, {Role: clichain.RoleAssistant, Content: "a answers 1"},
		{Role: clichain.RoleUser, Content: "two"}, {Role: clichain.RoleAssistant, Content: "a answers 2"},
	}, c.Messages())
	require.Equal(t, []call.Thread{{Backend: "a", Session: resp.Session, Messages: 4}}, c.Threads())
}

// Six turns, with a limit in turns 3 and 5: the conversation goes to the next backend and comes back.
func TestConversationIsHandedOverAndComesBack(t *testing.T) {
	a, b := newFake("a", ok, ok, limited, ok, ok), newFake("b", ok, ok, limited)
	c := conversation.New(chain(a, b), nil)
	send(t, c, "one", "a")
	send(t, c, "two", "a")

	third := send(t, c, "three", "b")
	require.Equal(t, "a", third.HandedOver)
	require.Equal(t, []call.Flag{call.FlagHandedOver}, third.Flags)
	require.Contains(t, third.Warnings, "the conversation was handed over from a to b, because a did not answer: rate_limited")
	require.Len(t, third.Attempts, 1)
	require.Equal(t, "user: one\nassistant: a answers 1\nuser: two\nassistant: a answers 2\nuser: three", b.last())

	fourth := send(t, c, "four", "b")
	require.Empty(t, fourth.HandedOver)
	require.Equal(t, "user: four", b.last(), "the backend that answered last is asked first")

	fifth := send(t, c, "five", "a")
	require.Equal(t, "b", fifth.HandedOver)
	require.Len(t, a.sessions, 1)
	require.Contains(t, a.last(), "was answered elsewhere, so do not answer it")
	for _, text := range []string{"b answers 1", "four", "b answers 2", "five"} {
		require.Contains(t, a.last(), "\n"+text+"\n")
	}
	require.NotContains(t, a.last(), "three", "the failed turn is in the session")

	send(t, c, "six", "a")
	require.Equal(t, "user: six", a.last())
	require.Len(t, c.Messages(), 12)
}

func TestFailedTurn(t *testing.T) {
	for _, test := range []struct {
		name    string
		failure outcome
		again   string // the second message
		want    string // the text that the session gets then
		kept    bool   // the failed message is part of the conversation
	}{
		{"same message that the session holds", limited, "two", "user: Your answer to the previous message did not arrive. Answer that message now.", true},
		{"other message", limited, "three", "user: The previous message was not answered.", true},
		{"message that was not sent", skipped, "two", "user: two", false},
		{"other message after one that was not sent", skipped, "three", "user: three", false},
		{"unknown state of the session", crashed, "two", "user: one\nassistant: a answers 1\nuser: two", false},
		{"lost session", lost, "two", "user: one\nassistant: a answers 1\nuser: two", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newFake("a", ok, test.failure)
			c := conversation.New(a.backend(), nil)
			first := send(t, c, "one", "a")
			_, err := c.Send(t.Context(), "two")
			require.ErrorIs(t, err, test.failure.err.Reason.Err())
			require.Len(t, c.Messages(), map[bool]int{true: 3, false: 2}[test.kept])
			second := send(t, c, test.again, "a")
			require.Regexp(t, "^"+test.want, a.sessions[second.Session][len(a.sessions[second.Session])-1])
			require.Equal(t, test.failure == crashed || test.failure == lost, first.Session != second.Session)
		})
	}
}

// An agent that may have changed something ends the turn. The next turn asks the other backend.
func TestFailedAgentHandsOverInTheNextTurn(t *testing.T) {
	a, b := newFake("a", acted, limited), newFake("b")
	c := conversation.New(chain(a, b), &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite, Dir: t.TempDir()}})
	_, err := c.Send(t.Context(), "one")
	require.Error(t, err)
	require.Zero(t, b.calls)
	resp := send(t, c, "one", "b")
	require.Equal(t, "user: one", b.last())
	require.Equal(t, "a", resp.HandedOver)
}

func TestMessagesAreBounded(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	c := conversation.New(chain(a, b), &conversation.Config{MaxBytes: 1000})
	for i := range 20 {
		send(t, c, fmt.Sprintf("message %d", i), "a")
	}
	require.Equal(t, 40-len(c.Messages()), c.Dropped())
	require.Positive(t, c.Dropped())
	require.Equal(t, "user: message 19", a.last(), "the session holds the dropped messages")
	a.next = func(clichain.Request) (*call.Error, bool) { return skipped.err, false }
	send(t, c, "message 20", "b")
	require.Regexp(t, `^user: \(The first \d+ messages of this conversation are left out\.\)\nuser: message \d+\n`, b.last())
	require.Less(t, len(b.last()), 1100)
	require.Contains(t, b.last(), "\nuser: message 20")
}
