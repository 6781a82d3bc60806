package clichain_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/transcript"
	"github.com/clichain/clichain/specs"
)

// threaded returns a request with three messages, of which a session of codex holds two.
func threaded() clichain.Request {
	return clichain.Request{
		Messages: []clichain.Message{
			{Role: clichain.RoleUser, Content: "one"}, {Role: clichain.RoleAssistant, Content: "1"},
			{Role: clichain.RoleUser, Content: "two"},
		},
		Threads: []call.Thread{{Backend: "codex", Session: handleOf("codex", anID), Messages: 2}},
	}
}

// stdinOf returns the prompt of a recorded run.
func stdinOf(t *testing.T, record string) (prompt string, args []string) {
	t.Helper()
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	return string(ran.Stdin), ran.Args
}

func TestThreadResumesItsSession(t *testing.T) {
	clitest.NoLeaks(t)
	freshState(t)
	record := filepath.Join(t.TempDir(), "record")
	p := provider(t, specs.Codex(), clichain.Config{}, play(clitest.Step{Record: record}, stdout(threadAnswer(anID, "2"))))
	req := threaded()
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, req.Threads[0].Session, resp.Session)
	prompt, args := stdinOf(t, record)
	require.Equal(t, "two", prompt)
	require.Contains(t, args, anID)

	req.Threads[0].Backend, req.Threads[0].Session = "claude", handleOf("claude", anID)
	_, err = p.Complete(t.Context(), req)
	require.NoError(t, err)
	prompt, args = stdinOf(t, record)
	require.Equal(t, transcript.Conversation(req.Messages), prompt, "the thread of another backend")
	require.NotContains(t, args, anID)
}

// If the session is gone, the same backend answers all messages in a new session.
func TestThreadWithoutItsSession(t *testing.T) {
	clitest.NoLeaks(t)
	suppressNothing(t)
	freshState(t)
	record := filepath.Join(t.TempDir(), "record")
	const other = "0199abcd-0000-7000-8000-00000000ffff"
	scenario := clitest.Scenario{
		Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{readStdin, stdout(threadAnswer(other, "hello, stranger"))}}},
		Steps: []clitest.Step{{Record: record}, stdout(threadAnswer(other, "2"))},
	}
	next := &backend{name: "next"}
	c := clichain.ChainOf([]clichain.Backend{provider(t, specs.Codex(), clichain.Config{}, scenario), next}, nil)
	req := threaded()
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "2", resp.Text)
	require.Equal(t, handleOf("codex", other), resp.Session)
	require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags)
	require.Len(t, resp.Attempts, 1)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrBadSession)
	require.Empty(t, resp.Attempts[0].Err.(*clichain.BackendError).Session)
	prompt, _ := stdinOf(t, record)
	require.Equal(t, transcript.Conversation(req.Messages), prompt)
	require.Zero(t, next.asked)
}

// A failed run reports its session, and a second attempt in the session asks for the answer alone.
func TestSecondAttemptInASession(t *testing.T) {
	clitest.NoLeaks(t)
	suppressNothing(t)
	freshState(t)
	record := filepath.Join(t.TempDir(), "record")
	failed := []clitest.Step{readStdin, stdout(`{"type":"thread.started","thread_id":"` + anID + `"}` + "\n" +
		`{"type":"turn.failed","error":{"message":"server overloaded"}}` + "\n"), clitest.Exit(1)}
	scenario := clitest.Scenario{
		Cases: []clitest.Case{{Once: true, Steps: failed}},
		Steps: append([]clitest.Step{{Record: record}}, failed[1:]...),
	}
	req := threaded()
	_, err := provider(t, specs.Codex(), clichain.Config{}, scenario).Complete(t.Context(), req)
	be := requireReason(t, clichain.ReasonOverloaded, err)
	require.Equal(t, req.Threads[0].Session, be.Session)
	require.Len(t, be.Earlier, 1)
	require.Equal(t, req.Threads[0].Session, be.Earlier[0].Err.(*clichain.BackendError).Session)
	prompt, args := stdinOf(t, record)
	require.Equal(t, transcript.Again, prompt)
	require.Contains(t, args, anID)
}

// The backend of the first thread is asked first. Others get the request with all messages.
func TestChainAsksTheFirstThreadFirst(t *testing.T) {
	asked := []string{}
	answers := func(name string, err error) clichain.Backend {
		return clichain.BackendFunc(name, func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
			asked = append(asked, name)
			require.Len(t, req.Messages, 3)
			if err != nil {
				return nil, err
			}
			return &clichain.Response{Text: "2"}, nil
		})
	}
	for _, test := range []struct {
		name     string
		backends []clichain.Backend
		want     []string
		from     string
	}{
		{"first answers", []clichain.Backend{answers("a", nil), answers("codex", nil)}, []string{"codex"}, ""},
		{"limit", []clichain.Backend{answers("a", nil), answers("codex", clichain.ErrRateLimited)}, []string{"codex", "a"}, "codex"},
		{"lost session", []clichain.Backend{answers("a", nil), answers("codex", clichain.ErrBadSession)}, []string{"codex", "a"}, "codex"},
		{"none of them", []clichain.Backend{answers("a", clichain.ErrNetwork), answers("b", nil)}, []string{"a", "b"}, "codex"},
		{"in a chain", []clichain.Backend{answers("a", nil), clichain.ChainOf(
			[]clichain.Backend{answers("b", nil), answers("codex", nil)}, &clichain.ChainConfig{Name: "inner"})}, []string{"codex"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked = nil
			resp, err := clichain.ChainOf(test.backends, nil).Complete(t.Context(), threaded())
			require.NoError(t, err)
			require.Equal(t, test.want, asked)
			require.Equal(t, test.from, resp.HandedOver)
		})
	}
}

func TestInvalidThreads(t *testing.T) {
	handle := handleOf("codex", anID)
	for field, threads := range map[string][]call.Thread{
		"threads[0].backend":  {{Session: handle}},
		"threads[0].session":  {{Backend: "claude", Session: handle}},
		"threads[0].messages": {{Backend: "codex", Session: handle, Messages: 4}},
		"threads[1].backend":  {{Backend: "codex"}, {Backend: "codex", Session: handle}},
		"threads[1].session":  {{Backend: "codex"}, {Backend: "claude", Messages: 1}},
		"threads[1].messages": {{Backend: "codex"}, {Backend: "claude", Session: handleOf("claude", anID), Messages: -1}},
	} {
		req := threaded()
		req.Threads = threads
		for _, b := range []clichain.Backend{
			provider(t, specs.Codex(), clichain.Config{}, play(clitest.Exit(1))),
			clichain.ChainOf([]clichain.Backend{&backend{name: "codex"}}, nil),
		} {
			_, err := b.Complete(t.Context(), req)
			be := requireReason(t, clichain.ReasonBadOption, err)
			require.Equal(t, field, be.Option)
		}
	}
	req := threaded()
	req.Session = handle
	require.Equal(t, "threads", session.CheckThreads(req).Option)
}
