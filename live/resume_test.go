package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/live"
)

func TestSessionContinues(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	cfg := patient
	cfg.MaxQueue = 50 * time.Millisecond
	p := agentOf(t, "control", "", cfg)
	begin := func(req clichain.Request) (*live.Session, error) {
		s := live.New(p, &live.Config{Request: req})
		t.Cleanup(s.Kill)
		return s, s.Start(t.Context())
	}
	ask := func(s *live.Session, text string) *clichain.Response {
		t.Helper()
		resp, err := s.Ask(t.Context(), text)
		require.NoError(t, err)
		return resp
	}
	named := clichain.Request{}
	named.Options.SessionID = "s-7"
	s, err := begin(named)
	require.NoError(t, err)
	require.Empty(t, s.Status().Session)
	first := ask(s, "recall one")
	require.NotEmpty(t, first.Session)
	require.Equal(t, first.Session, s.Status().Session)
	s.Stop()
	require.Equal(t, first.Session, s.Status().Session, "a later session can continue it")

	s, err = begin(clichain.Request{Session: first.Session})
	require.NoError(t, err)
	require.Equal(t, first.Session, s.Status().Session)
	second := ask(s, "recall two")
	require.Equal(t, "earlier in s-7|recall two", second.Text)
	require.Equal(t, first.Session, second.Session)
	require.InDelta(t, 0.5, *second.Usage.CostUSD, 1e-9, "usage of the turn, not of the session")
	require.InDelta(t, 0.5, *ask(s, "say three").Usage.CostUSD, 1e-9)

	_, err = begin(clichain.Request{Session: first.Session})
	requireReason(t, clichain.ReasonBudgetSpent, err) // one conversation at a time
	s.Stop()
	s, err = begin(clichain.Request{Session: first.Session})
	require.NoError(t, err)
	s.Stop()
}

// Some CLIs resume a context by a message. The session is the context, lines of its earlier turns are not read,
// and its usage is recorded.
func TestSessionResumedByMessage(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clitest.NoLeaks(t)
	p := agentOf(t, "threads", "", patient)
	converse := func(session string, texts ...string) (last *clichain.Response) {
		s := live.New(p, &live.Config{Request: clichain.Request{Session: session}})
		defer s.Stop()
		require.NoError(t, s.Start(t.Context()))
		require.Equal(t, session, s.Status().Session)
		for i := 0; i < len(texts); i += 2 {
			resp, err := s.Ask(t.Context(), texts[i])
			require.NoError(t, err)
			require.Equal(t, texts[i+1], resp.Text)
			require.EqualValues(t, 3, resp.Usage.InputTokens, "usage of the turn")
			require.Equal(t, resp.Session, s.Status().Session)
			last = resp
		}
		return last
	}
	first := converse("", "recall one", "recall one", "say two", "two")
	require.Equal(t, "lumen.dGhyZWFkLTE", first.Session)
	require.EqualValues(t, 6, sessionfile.Load(first.Session).Used.InputTokens, "usage of the session")

	second := converse(first.Session, "recall three", "earlier in thread-1|recall three", "say four", "four")
	require.Equal(t, first.Session, second.Session)
	require.EqualValues(t, 12, sessionfile.Load(first.Session).Used.InputTokens)
	converse(first.Session, "recall late", "earlier in thread-1|recall late") // the ID of the turn follows its lines
	converse("lumen:thread-7", "recall five", "earlier in thread-7|recall five", "say six", "six")
	require.Nil(t, sessionfile.Load("lumen.dGhyZWFkLTc").Used, "the earlier usage is unknown")
}

// A CLI that refuses to resume a session begins no new one.
func TestSessionNotResumed(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for manners, want := range map[string]clichain.Reason{
		"forgot": clichain.ReasonBadSession, "knows no resume": clichain.ReasonUnsupported, "refuses": clichain.ReasonUnauthenticated,
	} {
		s := live.New(agentOf(t, "threads", manners, patient), &live.Config{Request: clichain.Request{Session: "lumen:thread-1"}})
		t.Cleanup(s.Kill)
		requireReason(t, want, s.Start(t.Context()))
	}
}

// If no session is stored, the answer names none.
func TestSessionNotStored(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	forgetful := clichain.Request{}
	forgetful.Options.NoSessionPersistence = true
	for dialect, req := range map[string]clichain.Request{"control": forgetful, "acp": {}} {
		s := live.New(agentOf(t, dialect, "", patient), &live.Config{Request: req})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		resp, err := s.Ask(t.Context(), "say hi")
		require.NoError(t, err)
		require.Empty(t, resp.Session, dialect)
		s.Stop()
	}
	pool := live.NewPool([]*clichain.Provider{agentOf(t, "control", "", patient)}, &live.PoolConfig{Wait: time.Minute})
	resp, err := pool.Backends()[0].Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Empty(t, resp.Session, "the next call clears it")
	require.Equal(t, 1, pool.Stats().Warm)
	pool.Close()
}

// Start returns an error for a session if the live mode does not support sessions, and for Continue.
func TestSessionCannotContinue(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	named, newest := clichain.Request{}, clichain.Request{}
	named.Options.SessionID, newest.Options.Continue = "s-7", true
	newest.Access, newest.Dir = clichain.AccessRead, t.TempDir()
	for dialect, requests := range map[string][]clichain.Request{"threads": {named, newest}, "acp": {named, newest, {Session: "lumen:s-7"}}} {
		for _, req := range requests {
			requireReason(t, clichain.ReasonUnsupported, live.New(agentOf(t, dialect, "", patient), &live.Config{Request: req}).Start(t.Context()))
		}
	}
	requireReason(t, clichain.ReasonUnsupported, live.New(agentOf(t, "control", "", patient), &live.Config{Request: newest}).Start(t.Context()))
	requireReason(t, clichain.ReasonUnsupported, live.New(agentOf(t, "control", "", patient), &live.Config{Request: clichain.Request{Session: "other:s-7"}}).Start(t.Context()))
}
