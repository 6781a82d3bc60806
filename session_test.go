package clichain_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// threadAnswer is codex going on from a thread.
func threadAnswer(id, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"` + id + `"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed"}` + "\n"
}

// A session remembers where it was made, and a call goes on from it there.
func TestSessionKeepsItsDirectory(t *testing.T) {
	clitest.NoLeaks(t)
	freshState(t)
	record := filepath.Join(t.TempDir(), "record")
	p := provider(t, specs.Codex(), clichain.Config{}, play(clitest.Step{Record: record}, stdout(threadAnswer(anID, "yes"))))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	req := clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, dir
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, handleOf("codex", anID), resp.Session)

	next := clichain.Prompt("and?")
	next.Session, next.Access = resp.Session, clichain.AccessRead
	resp, err = p.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, next.Session, resp.Session)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, dir, ran.Dir)
	require.Contains(t, ran.Args, anID)

	require.NoError(t, os.RemoveAll(dir))
	_, err = p.Complete(t.Context(), next)
	require.Contains(t, requireReason(t, clichain.ReasonBadSession, err).Message, "is gone")
}

func TestSessionElsewhere(t *testing.T) {
	freshState(t)
	req := clichain.Prompt("hi")
	req.Session, req.Access, req.Dir = handleOf("gemini", anID), clichain.AccessRead, t.TempDir()
	require.NoError(t, sessionfile.Save(req.Session, session.Record{Dir: "/made/here"}))
	p := provider(t, specs.Gemini(), clichain.Config{}, play(clitest.Exit(1)))
	_, err := p.Complete(t.Context(), req)
	be := requireReason(t, clichain.ReasonBadSession, err)
	require.Contains(t, be.Message, "/made/here")
	require.Equal(t, "session", be.Option)

	unknown := clichain.Prompt("hi")
	unknown.Session, unknown.Access = handleOf("gemini", "0199abcd-0000-7000-8000-00000000eeee"), clichain.AccessRead
	_, err = p.Complete(t.Context(), unknown)
	require.Contains(t, requireReason(t, clichain.ReasonBadSession, err).Message, "set Dir")
}

// A CLI that begins a new session in place of the old one is ended: its answer
// would know nothing.
func TestABeginningIsNoGoingOn(t *testing.T) {
	suppressNothing(t)
	freshState(t)
	anew := play(readStdin, stdout(threadAnswer("0199abcd-0000-7000-8000-00000000ffff", "hello, stranger")))
	req := clichain.Prompt("and?")
	req.Session = handleOf("codex", anID)
	t.Run("an error", func(t *testing.T) {
		clitest.NoLeaks(t)
		next := &backend{name: "next"}
		c := clichain.ChainOf([]clichain.Backend{provider(t, specs.Codex(), clichain.Config{}, anew), next}, nil)
		_, err := c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadSession)
		require.Zero(t, next.asked, "nobody else can go on from it")
	})
	t.Run("unless that is wanted", func(t *testing.T) {
		clitest.NoLeaks(t)
		resp, err := provider(t, specs.Codex(), clichain.Config{FreshSessionOnReject: true}, anew).Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "hello, stranger", resp.Text)
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags)
		require.Len(t, resp.Attempts, 1)
		require.Equal(t, clichain.ReasonBadSession, resp.Attempts[0].Reason)
	})
}

func TestFreshSessionWhereTheOldOneIsGone(t *testing.T) {
	clitest.NoLeaks(t)
	freshState(t)
	p := provider(t, specs.Claude(), clichain.Config{FreshSessionOnReject: true}, clitest.Scenario{Cases: []clitest.Case{
		{Once: true, Steps: []clitest.Step{{Stderr: "No conversation found with session ID: x\n"}, clitest.Exit(1)}},
	}, Steps: []clitest.Step{readStdin, stdout(init1 + "\n" + resultLine("hello") + "\n")}})
	gone := handleOf("claude", "0199abcd-0000-7000-8000-00000000dddd")
	require.NoError(t, sessionfile.Save(gone, session.Record{Dir: "/nonexistent"}))
	for _, handle := range []string{handleOf("claude", anID), gone, handleOf("claude", "no-id"), "claude:" + anID} {
		req := clichain.Prompt("and?")
		req.Session, req.Access = handle, clichain.AccessRead
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err, handle)
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags, handle)
	}
	req := clichain.Prompt("and?")
	req.Session = handleOf("codex", anID)
	require.NoError(t, sessionfile.Save(req.Session, session.Record{Dir: "/nonexistent"}))
	_, err := p.Complete(t.Context(), req)
	requireReason(t, clichain.ReasonUnsupported, err)
}

// Of two calls that go on from one session the second waits; another session's
// does not.
func TestOneCallOfASessionAtATime(t *testing.T) {
	clitest.NoLeaks(t)
	freshState(t)
	p := provider(t, specs.Codex(), clichain.Config{Registry: new(runs.Registry)}, play(readStdin, clitest.Step{Sleep: 300 * time.Millisecond}, stdout(threadAnswer(anID, "yes"))))
	var mu sync.Mutex
	var ends []time.Time
	var calls sync.WaitGroup
	for _, dir := range []string{"", t.TempDir()} {
		calls.Go(func() {
			req := clichain.Prompt("and?")
			req.Session, req.Access, req.Dir = handleOf("codex", anID), clichain.AccessRead, dir
			_, err := p.Complete(t.Context(), req)
			mu.Lock()
			defer mu.Unlock()
			if ends = append(ends, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	slices.SortFunc(ends, time.Time.Compare)
	require.GreaterOrEqual(t, ends[1].Sub(ends[0]), 250*time.Millisecond)

	t.Run("who waits can leave", func(t *testing.T) {
		release, err := session.Turns.Take(t.Context(), handleOf("codex", anID))
		require.NoError(t, err)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req := clichain.Prompt("and?")
		req.Session = handleOf("codex", anID)
		req.Access, req.Dir = clichain.AccessRead, t.TempDir()
		_, err = p.Complete(ctx, req)
		requireReason(t, clichain.ReasonCanceled, err)
	})
}
