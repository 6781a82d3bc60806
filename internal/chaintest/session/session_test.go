package session_test

import (
	"context"
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
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// A session records its directory, and a call continues it there.
func TestSessionKeepsItsDirectory(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes"))))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	req := clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, dir
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, chaintest.HandleOf("codex", chaintest.AnID), resp.Session)

	next := clichain.Prompt("and?")
	next.Session, next.Access = resp.Session, clichain.AccessRead
	resp, err = p.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, next.Session, resp.Session)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, dir, ran.Dir)
	require.Contains(t, ran.Args, chaintest.AnID)

	require.NoError(t, os.RemoveAll(dir))
	_, err = p.Complete(t.Context(), next)
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBadSession, err).Message, "the directory of this session does not exist any more")
}

func TestSessionElsewhere(t *testing.T) {
	chaintest.FreshState(t)
	req := clichain.Prompt("hi")
	req.Session, req.Access, req.Dir = chaintest.HandleOf("gemini", chaintest.AnID), clichain.AccessRead, t.TempDir()
	require.NoError(t, sessionfile.Save(req.Session, session.Record{Dir: "/made/here"}))
	p := chaintest.Provider(t, specs.Gemini(), clichain.Config{}, chaintest.Play(clitest.Exit(1)))
	_, err := p.Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonBadSession, err)
	require.Contains(t, be.Message, "/made/here")
	require.Equal(t, "session", be.Option)

	unknown := clichain.Prompt("hi")
	unknown.Session, unknown.Access = chaintest.HandleOf("gemini", "0199abcd-0000-7000-8000-00000000eeee"), clichain.AccessRead
	_, err = p.Complete(t.Context(), unknown)
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBadSession, err).HintText(), "set Dir")
}

// A CLI that begins a new session in place of the requested one is ended: its answer would lack the context.
func TestABeginningIsNoGoingOn(t *testing.T) {
	chaintest.FreshState(t)
	anew := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer("0199abcd-0000-7000-8000-00000000ffff", "hello, stranger")))
	req := clichain.Prompt("and?")
	req.Session = chaintest.HandleOf("codex", chaintest.AnID)
	t.Run("an error", func(t *testing.T) {
		clitest.NoLeaks(t)
		next := &chaintest.Backend{ID: "next"}
		c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Codex(), clichain.Config{}, anew), next}, nil)
		_, err := c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadSession)
		require.Zero(t, next.Asked, "nobody else can go on from it")
	})
	t.Run("allowed if requested", func(t *testing.T) {
		clitest.NoLeaks(t)
		resp, err := chaintest.Provider(t, specs.Codex(), clichain.Config{FreshSessionOnReject: true}, anew).Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "hello, stranger", resp.Text)
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags)
		require.Len(t, resp.Attempts, 1)
		require.Equal(t, clichain.ReasonBadSession, resp.Attempts[0].Reason)
	})
}

func TestFreshSessionWhereTheOldOneIsGone(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{FreshSessionOnReject: true}, clitest.Scenario{Cases: []clitest.Case{
		{Once: true, Steps: []clitest.Step{{Stderr: "No conversation found with session ID: x\n"}, clitest.Exit(1)}},
	}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1 + "\n" + chaintest.ResultLine("hello") + "\n")}})
	gone := chaintest.HandleOf("claude", "0199abcd-0000-7000-8000-00000000dddd")
	require.NoError(t, sessionfile.Save(gone, session.Record{Dir: "/nonexistent"}))
	for _, handle := range []string{chaintest.HandleOf("claude", chaintest.AnID), gone, chaintest.HandleOf("claude", "no-id"), "claude:no-id"} {
		req := clichain.Prompt("and?")
		req.Session, req.Access = handle, clichain.AccessRead
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err, handle)
		require.Equal(t, []call.Flag{call.FlagFreshSession}, resp.Flags, handle)
	}
	req := clichain.Prompt("and?")
	req.Session = chaintest.HandleOf("codex", chaintest.AnID)
	require.NoError(t, sessionfile.Save(req.Session, session.Record{Dir: "/nonexistent"}))
	_, err := p.Complete(t.Context(), req)
	chaintest.RequireReason(t, clichain.ReasonUnsupported, err)
}

// Of two calls that continue one session the second waits. A call of another session does not.
func TestOneCallOfASessionAtATime(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Registry: new(runs.Registry)}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Sleep: 300 * time.Millisecond}, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes"))))
	var mu sync.Mutex
	var ends []time.Time
	var calls sync.WaitGroup
	for _, dir := range []string{"", t.TempDir()} {
		calls.Go(func() {
			req := clichain.Prompt("and?")
			req.Session, req.Access, req.Dir = chaintest.HandleOf("codex", chaintest.AnID), clichain.AccessRead, dir
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

	t.Run("a waiting call can be canceled", func(t *testing.T) {
		release, err := session.Turns.Take(t.Context(), chaintest.HandleOf("codex", chaintest.AnID))
		require.NoError(t, err)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req := clichain.Prompt("and?")
		req.Session = chaintest.HandleOf("codex", chaintest.AnID)
		req.Access, req.Dir = clichain.AccessRead, t.TempDir()
		_, err = p.Complete(ctx, req)
		chaintest.RequireReason(t, clichain.ReasonCanceled, err)
	})
}

// The newest session of a directory: its counts are found by the session ID that the CLI reports, and are unknown
// without a record. If the CLI does not accept it, a new session replaces it.
func TestNewestSession(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	spec := specs.Codex()
	turn := func(tokens string) clitest.Step {
		return chaintest.Stdout(strings.Replace(chaintest.ThreadAnswer(chaintest.AnID, "yes"), `"turn.completed"`, `"turn.completed","usage":{"input_tokens":`+tokens+`}`, 1))
	}
	p := chaintest.Provider(t, spec, clichain.Config{}, clitest.Scenario{
		Cases: []clitest.Case{{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, turn("100")}}}, Steps: []clitest.Step{chaintest.ReadStdin, turn("130")},
	})
	req := clichain.Prompt("hi")
	req.Access, req.Dir, req.Options.Continue = clichain.AccessRead, t.TempDir(), true
	first, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Zero(t, first.Usage.InputTokens, "nobody knows what others had used")
	second, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.EqualValues(t, 30, second.Usage.InputTokens)

	record := filepath.Join(t.TempDir(), "record")
	gone := clitest.Case{Once: true, Steps: []clitest.Step{{Stderr: "no rollout found for thread id\n"}, clitest.Exit(1)}}
	p = chaintest.Provider(t, spec, clichain.Config{FreshSessionOnReject: true}, clitest.Scenario{
		Cases: []clitest.Case{gone}, Steps: []clitest.Step{{Record: record}, turn("5")},
	})
	fresh, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, []call.Flag{call.FlagFreshSession}, fresh.Flags)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.NotContains(t, ran.Args, "--last")
}

// A request has at most one session; the error names both fields.
func TestOneSessionARequest(t *testing.T) {
	for name, set := range map[string]func(*clichain.Request){
		"a session and the newest": func(r *clichain.Request) {
			r.Session, r.Options.Continue = chaintest.HandleOf("codex", chaintest.AnID), true
		},
		"a session and a new one": func(r *clichain.Request) {
			r.Session, r.Options.SessionID = chaintest.HandleOf("codex", chaintest.AnID), chaintest.AnID
		},
		"the newest and a new one":   func(r *clichain.Request) { r.Options.Continue, r.Options.SessionID = true, chaintest.AnID },
		"the newest, but of nothing": func(r *clichain.Request) { r.Options.Continue, r.Access = true, clichain.AccessNone },
	} {
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessRead
		set(&req)
		_, err := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Exit(9))).Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadOption, name)
	}
	req := clichain.Prompt("hi")
	req.Options.SessionID = "no id"
	_, err := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Exit(9))).Complete(t.Context(), req)
	require.Equal(t, "session_id", chaintest.RequireReason(t, clichain.ReasonUnsupported, err).Option)
}
