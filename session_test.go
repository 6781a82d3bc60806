package clichain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/session"
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
	record := filepath.Join(t.TempDir(), "record")
	p := provider(t, specs.Codex(), clichain.Config{}, play(clitest.Step{Record: record}, stdout(threadAnswer(anID, "yes"))))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	req := clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, dir
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "codex:"+anID+"@"+dir, resp.Session)

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
	req := clichain.Prompt("hi")
	req.Session, req.Access, req.Dir = "gemini:"+anID+"@/made/here", clichain.AccessRead, t.TempDir()
	p := provider(t, specs.Gemini(), clichain.Config{}, play(clitest.Exit(1)))
	_, err := p.Complete(t.Context(), req)
	be := requireReason(t, clichain.ReasonBadSession, err)
	require.Contains(t, be.Message, "/made/here")
	require.Equal(t, "session", be.Option)
}

// A CLI that begins a new session in place of the old one is ended: its answer
// would know nothing.
func TestABeginningIsNoGoingOn(t *testing.T) {
	suppressNothing(t)
	anew := play(readStdin, stdout(threadAnswer("0199abcd-0000-7000-8000-00000000ffff", "hello, stranger")))
	req := clichain.Prompt("and?")
	req.Session = "codex:" + anID
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
	p := provider(t, specs.Claude(), clichain.Config{FreshSessionOnReject: true}, clitest.Scenario{Cases: []clitest.Case{
		{Once: true, Steps: []clitest.Step{{Stderr: "No conversation found with session ID: x\n"}, clitest.Exit(1)}},
	}, Steps: []clitest.Step{readStdin, stdout(init1 + "\n" + resultLine("hello") + "\n")}})
	for _, session := range []string{"claude:" + anID, "claude:" + anID + "@/nonexistent", "claude:no-id"} {
		req := clichain.Prompt("and?")
		req.Session, req.Access = session, clichain.AccessRead
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err, session)
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags, session)
	}
	req := clichain.Prompt("and?")
	req.Session = "codex:" + anID
	_, err := p.Complete(t.Context(), req)
	requireReason(t, clichain.ReasonUnsupported, err)
}

func TestNoSessionToGoOnFrom(t *testing.T) {
	clitest.NoLeaks(t)
	p := provider(t, specs.Codex(), clichain.Config{}, play(readStdin, stdout(threadAnswer(anID, "yes"))))
	req := clichain.Prompt("hi")
	req.Options.NoSessionPersistence = true
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, resp.Session)
}

// Counts that a CLI goes on with are taken down to those of the call.
func TestUsageIsThatOfTheCall(t *testing.T) {
	clitest.NoLeaks(t)
	turn := func(input int) clitest.Case {
		return clitest.Case{Once: true, Steps: []clitest.Step{readStdin, stdout(strings.Replace(threadAnswer(anID, "yes"), `"turn.completed"`,
			fmt.Sprintf(`"turn.completed","usage":{"input_tokens":%d,"output_tokens":%d}`, input, input/2), 1))}}
	}
	p := provider(t, specs.Codex(), clichain.Config{}, clitest.Scenario{Cases: []clitest.Case{turn(12), turn(30), turn(50)}})
	req := clichain.Prompt("hi")
	for _, want := range []clichain.Usage{{InputTokens: 12, OutputTokens: 6}, {InputTokens: 18, OutputTokens: 9}, {InputTokens: 20, OutputTokens: 10}} {
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.Usage)
		req.Session = resp.Session
	}
}

// Of two calls that go on from one session the second waits; another session's
// does not.
func TestOneCallOfASessionAtATime(t *testing.T) {
	clitest.NoLeaks(t)
	p := provider(t, specs.Codex(), clichain.Config{Registry: new(runs.Registry)}, play(readStdin, clitest.Step{Sleep: 300 * time.Millisecond}, stdout(threadAnswer(anID, "yes"))))
	var mu sync.Mutex
	var ends []time.Time
	var calls sync.WaitGroup
	for _, dir := range []string{"", t.TempDir()} {
		calls.Go(func() {
			req := clichain.Prompt("and?")
			req.Session, req.Access, req.Dir = "codex:"+anID, clichain.AccessRead, dir
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
		release, err := session.Turns.Take(t.Context(), "codex:"+anID)
		require.NoError(t, err)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req := clichain.Prompt("and?")
		req.Session = "codex:" + anID + "@/elsewhere"
		req.Access, req.Dir = clichain.AccessRead, t.TempDir()
		_, err = p.Complete(ctx, req)
		requireReason(t, clichain.ReasonCanceled, err)
	})
}
