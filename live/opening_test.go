package live_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

// earlierTurns is a conversation of four messages. threads are the sessions that hold a part of it.
func earlierTurns(threads ...call.Thread) clichain.Request {
	return clichain.Request{Threads: threads, Messages: []clichain.Message{
		{Role: clichain.RoleUser, Content: "question-1"}, {Role: clichain.RoleAssistant, Content: "answer-1"},
		{Role: clichain.RoleUser, Content: "question-2"}, {Role: clichain.RoleAssistant, Content: "answer-2"},
	}}
}

func thread(id string, messages int) call.Thread {
	return call.Thread{Backend: "lumen", Session: "lumen:" + id, Messages: messages}
}

// opened returns a running session that starts from a conversation.
func opened(t *testing.T, dialect, manners string, req clichain.Request) *live.Session {
	t.Helper()
	s := live.New(agentOf(t, dialect, manners, patient), &live.Config{Request: req})
	t.Cleanup(s.Kill)
	require.NoError(t, s.Start(t.Context()))
	return s
}

func ask(t *testing.T, s *live.Session, text string) *clichain.Response {
	t.Helper()
	resp, err := s.Ask(t.Context(), text)
	require.NoError(t, err)
	return resp
}

// requireOnce requires that a context contains each of the texts exactly once, in this order.
func requireOnce(t *testing.T, said string, texts ...string) {
	t.Helper()
	at := -1
	for _, text := range texts {
		require.Equal(t, 1, strings.Count(said, text), "%s: %s", text, said)
		require.Less(t, at, strings.Index(said, text), said)
		at = strings.Index(said, text)
	}
}

func TestSessionStartsFromMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		s := opened(t, dialect, "", earlierTurns(call.Thread{Backend: "other", Session: "other:1", Messages: 4}))
		first := ask(t, s, "recall three")
		require.True(t, strings.HasPrefix(first.Text, "These are the turns of a conversation."), first.Text)
		requireOnce(t, first.Text, "question-1", "answer-1", "question-2", "answer-2", "recall three")
		require.Equal(t, "other", first.HandedOver)
		require.Equal(t, []call.Flag{call.FlagHandedOver}, first.Flags)
		second := ask(t, s, "recall four")
		requireOnce(t, second.Text, "question-1", "answer-2", "recall three", "recall four")
		require.True(t, strings.HasSuffix(second.Text, "|recall four"), "the CLI has the earlier turns")
		require.Empty(t, second.HandedOver)
		require.Empty(t, second.Flags)
		s.Stop()
	})
}

func TestSessionStartsFromThread(t *testing.T) {
	t.Parallel()
	for dialect, id := range map[string]string{"control": "s-7", "threads": "thread-7"} {
		t.Run(dialect, func(t *testing.T) {
			clitest.NoLeaks(t)
			s := opened(t, dialect, "", earlierTurns(thread(id, 4)))
			require.Equal(t, "lumen:"+id, s.Status().Session)
			require.Equal(t, "earlier in "+id+"|recall three", ask(t, s, "recall three").Text)
			s.Stop()

			s = opened(t, dialect, "", earlierTurns(thread(id, 2)))
			_, err := s.Ask(t.Context(), "fail 500 internal server error")
			requireReason(t, clichain.ReasonServerError, err)
			resp := ask(t, s, "recall three")
			require.NotContains(t, resp.Text, "question-1")
			requireOnce(t, resp.Text, "earlier in "+id+"|", "turns that you missed", "question-2", "answer-2", "fail 500", "recall three")
			require.True(t, strings.HasSuffix(resp.Text, "|recall three"), "the CLI has the failed turn")
			s.Stop()
		})
	}
}

// A CLI that does not resume its thread gets all messages in a new session. Some CLIs reject a session in the first turn.
func TestSessionStartsWithoutRejectedThread(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		var registry runs.Registry
		cfg := patient
		cfg.Registry = &registry
		id := map[string]string{"control": "s-7", "threads": "thread-7", "acp": "s-7"}[dialect]
		told, hooks := hooked(t)
		s := live.New(agentOf(t, dialect, "forgot", cfg), &live.Config{Request: earlierTurns(thread(id, 2)), Hooks: hooks})
		t.Cleanup(s.Kill)
		ctx := context.WithValue(t.Context(), testKey{}, "value")
		require.NoError(t, s.Start(runs.WithKey(ctx, "job", "")))
		resp, err := s.Ask(ctx, "recall three")
		require.NoError(t, err)
		requireOnce(t, resp.Text, "question-1", "answer-1", "question-2", "answer-2", "recall three")
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags)
		require.Len(t, resp.Attempts, 1)
		want := map[string]clichain.Reason{"control": clichain.ReasonBadSession, "threads": clichain.ReasonBadSession, "acp": clichain.ReasonUnsupported}
		require.Equal(t, want[dialect], resp.Attempts[0].Reason)
		if dialect == "control" {
			require.Equal(t, []string{"start lumen", "end lumen bad_session", "start lumen", "end lumen "}, (*told)[1:5])
		}
		require.NotEqual(t, "lumen:"+id, s.Status().Session)
		second, err := s.Ask(ctx, "recall four")
		require.NoError(t, err)
		require.Empty(t, second.Flags)
		require.Empty(t, second.Attempts)
		requireOnce(t, second.Text, "question-1", "recall three", "recall four")
		require.True(t, registry.HasActive("job"))
		s.Stop()
	})
}

// A new process that fails too ends the session. The error has both attempts.
func TestSessionEndsIfNewProcessFails(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	s := opened(t, "control", "forgot, refuses new", earlierTurns(thread("s-7", 2)))
	_, err := s.Ask(t.Context(), "recall three")
	be := requireReason(t, clichain.ReasonUnauthenticated, err)
	require.Len(t, be.Earlier, 1)
	require.Equal(t, clichain.ReasonBadSession, be.Earlier[0].Reason)
	for range s.Events() { // until the end
	}
	require.Equal(t, live.Error, s.Status().State)
	requireReason(t, clichain.ReasonUnauthenticated, s.Status().Err)
}

// A turn that ends before it reached the CLI leaves the conversation to the next turn.
func TestSessionKeepsConversationOfUnsentTurn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		var armed atomic.Bool
		armed.Store(true)
		s := live.New(agentOf(t, dialect, "", patient), &live.Config{Request: earlierTurns(), Hooks: &clichain.Hooks{
			CallStart: func(context.Context, clichain.Request) {
				if armed.Swap(false) {
					panic("hook")
				}
			},
		}})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		require.Panics(t, func() { _, _ = s.Ask(t.Context(), "say never") })
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Ask(canceled, "say never")
		requireReason(t, clichain.ReasonCanceled, err)
		resp := ask(t, s, "recall three")
		requireOnce(t, resp.Text, "question-1", "answer-2", "recall three")
		require.NotContains(t, resp.Text, "never")
		s.Stop()
	})
}

// If the conversation ends with a message without an answer, the same text asks for its answer.
func TestSessionStartsFromUnansweredMessage(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	req := earlierTurns()
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleUser, Content: "recall three"})
	s := opened(t, "control", "", req)
	requireOnce(t, ask(t, s, "recall three").Text, "answer-2", "recall three")
	s.Stop()

	interrupted := thread("s-7", 5)
	interrupted.Interrupted, req.Threads = true, []call.Thread{interrupted}
	s = opened(t, "control", "", req)
	_, err := s.Ask(t.Context(), "recall three") // the agent knows no answer
	requireReason(t, clichain.ReasonEmpty, err)
	text := ask(t, s, "recall four").Text
	require.Equal(t, "earlier in s-7|Your answer to the previous message did not arrive. Answer that message now.|recall four", text)
	s.Stop()
}

// The correction of an answer does not repeat the conversation.
func TestSessionCorrectsFirstAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		clitest.NoLeaks(t)
		req := earlierTurns()
		req.Schema = withSchema(clichain.AccessNone, "").Request.Schema
		s := opened(t, dialect, "", req)
		require.Equal(t, word, ask(t, s, "mend Hello "+word).Text)
		said := call.AsError("", ask(t, s, "recall four").Attempts[0].Err).Partial
		requireOnce(t, said, "question-1", "answer-2", "mend Hello", "recall four")
		s.Stop()
	})
}

func TestSessionRefusesInvalidConversation(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(req *clichain.Request){
		"role":                       func(req *clichain.Request) { req.Messages[1].Role = "tool" },
		"NUL":                        func(req *clichain.Request) { req.Messages[1].Content = "\x00" },
		"invalid UTF-8":              func(req *clichain.Request) { req.Messages[1].Content = "\xff" },
		"thread beyond the messages": func(req *clichain.Request) { req.Threads = []call.Thread{thread("s-7", 5)} },
		"thread of another backend":  func(req *clichain.Request) { req.Threads = []call.Thread{{Backend: "other", Session: "lumen:s-7"}} },
		"thread and session": func(req *clichain.Request) {
			req.Threads, req.Session = []call.Thread{thread("s-7", 2)}, "lumen:s-7"
		},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			req := earlierTurns()
			change(&req)
			err := live.New(agentOf(t, "control", "", patient), &live.Config{Request: req}).Start(t.Context())
			be := call.AsError("", err)
			require.Contains(t, []clichain.Reason{clichain.ReasonBadOption, clichain.ReasonBadRequest}, be.Reason)
		})
	}
}
