package session_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
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
		Threads: []call.Thread{{Backend: "codex", Session: chaintest.HandleOf("codex", chaintest.AnID), Messages: 2}},
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
	chaintest.FreshState(t)
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "2"))))
	req := threaded()
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, req.Threads[0].Session, resp.Session)
	prompt, args := stdinOf(t, record)
	require.Equal(t, "two", prompt)
	require.Contains(t, args, chaintest.AnID)

	req.Threads[0].Backend, req.Threads[0].Session = "claude", chaintest.HandleOf("claude", chaintest.AnID)
	_, err = p.Complete(t.Context(), req)
	require.NoError(t, err)
	prompt, args = stdinOf(t, record)
	require.Equal(t, transcript.Conversation(req.Messages), prompt, "the thread of another backend")
	require.NotContains(t, args, chaintest.AnID)
}

// If the session is gone, the same backend answers all messages in a new session.
func TestThreadWithoutItsSession(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	record := filepath.Join(t.TempDir(), "record")
	const other = "0199abcd-0000-7000-8000-00000000ffff"
	scenario := clitest.Scenario{
		Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer(other, "hello, stranger"))}}},
		Steps: []clitest.Step{{Record: record}, chaintest.Stdout(chaintest.ThreadAnswer(other, "2"))},
	}
	next := &chaintest.Backend{ID: "next"}
	c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Codex(), clichain.Config{}, scenario), next}, nil)
	req := threaded()
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "2", resp.Text)
	require.Equal(t, chaintest.HandleOf("codex", other), resp.Session)
	require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags)
	require.Len(t, resp.Attempts, 1)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrBadSession)
	require.Empty(t, resp.Attempts[0].Err.(*clichain.BackendError).Session)
	prompt, _ := stdinOf(t, record)
	require.Equal(t, transcript.Conversation(req.Messages), prompt)
	require.Zero(t, next.Asked)
}

// A failed run reports its session, and a second attempt in the session asks for the answer alone.
func TestSecondAttemptInASession(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	record := filepath.Join(t.TempDir(), "record")
	failed := []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(`{"type":"thread.started","thread_id":"` + chaintest.AnID + `"}` + "\n" +
		`{"type":"turn.failed","error":{"message":"server overloaded"}}` + "\n"), clitest.Exit(1)}
	scenario := clitest.Scenario{
		Cases: []clitest.Case{{Once: true, Steps: failed}},
		Steps: append([]clitest.Step{{Record: record}}, failed[1:]...),
	}
	req := threaded()
	_, err := chaintest.Provider(t, specs.Codex(), clichain.Config{}, scenario).Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonOverloaded, err)
	require.Equal(t, req.Threads[0].Session, be.Session)
	require.Len(t, be.Earlier, 1)
	require.Equal(t, req.Threads[0].Session, be.Earlier[0].Err.(*clichain.BackendError).Session)
	prompt, args := stdinOf(t, record)
	require.Equal(t, transcript.Again, prompt)
	require.Contains(t, args, chaintest.AnID)
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
	handle := chaintest.HandleOf("codex", chaintest.AnID)
	for field, threads := range map[string][]call.Thread{
		"threads[0].backend":  {{Session: handle}},
		"threads[0].session":  {{Backend: "claude", Session: handle}},
		"threads[0].messages": {{Backend: "codex", Session: handle, Messages: 4}},
		"threads[1].backend":  {{Backend: "codex"}, {Backend: "codex", Session: handle}},
		"threads[1].session":  {{Backend: "codex"}, {Backend: "claude", Messages: 1}},
		"threads[1].messages": {{Backend: "codex"}, {Backend: "claude", Session: chaintest.HandleOf("claude", chaintest.AnID), Messages: -1}},
	} {
		req := threaded()
		req.Threads = threads
		for _, b := range []clichain.Backend{
			chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Exit(1))),
			clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "codex"}}, nil),
		} {
			_, err := b.Complete(t.Context(), req)
			be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
			require.Equal(t, field, be.Option)
		}
	}
	req := threaded()
	req.Session = handle
	require.Equal(t, "threads", session.CheckThreads(req).Option)
}
