package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// A live session reports its ID. It continues the session of a call, and both a call and another live session
// continue it.
func TestLiveSessionContinues(t *testing.T) {
	for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessRead} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.InOrder(
				loopback.Text(answered), loopback.Text(hello), loopback.Text("third"), loopback.Text("fourth"),
			))
			request := clichain.Request{Access: access}
			if access > clichain.AccessNone {
				request.Dir = c.home.Work
			}
			id := fmt.Sprintf("0f8b7d3e-5f64-4f0e-9a53-0d6c1a1f2b3%d", access) // each ID has its own record in the state directory
			begin := func(req clichain.Request) *live.Session {
				s := live.New(c.Provider, &live.Config{Request: req})
				t.Cleanup(s.Kill)
				require.NoError(t, s.Start(t.Context()))
				return s
			}
			ask := func(s *live.Session, text, want string) *clichain.Response {
				resp, err := s.Ask(t.Context(), text)
				require.NoError(t, err)
				require.Equal(t, want, resp.Text)
				return resp
			}
			named := request
			named.Options.SessionID = id
			s := begin(named)
			first := ask(s, asked, answered)
			require.Equal(t, handleOf(home.Claude, id), first.Session)
			require.Equal(t, first.Session, s.Status().Session)
			s.Stop()

			again := request
			again.Session = first.Session
			s = begin(again)
			second := ask(s, "and now?", hello)
			require.Equal(t, first.Session, second.Session)
			third := ask(s, "and then?", "third")
			s.Stop()
			for _, resp := range []*clichain.Response{second, third} {
				require.InDelta(t, *first.Usage.CostUSD, *resp.Usage.CostUSD, 0.2**first.Usage.CostUSD, "cost of one turn, not of the session")
			}

			cold := again
			cold.Messages = clichain.Prompt("and cold?").Messages
			resp, err := c.Complete(t.Context(), cold)
			require.NoError(t, err)
			require.Equal(t, "fourth", resp.Text)
			require.InDelta(t, *first.Usage.CostUSD, *resp.Usage.CostUSD, 0.2**first.Usage.CostUSD, "usage of one call, not of the session")

			calls := c.server.Calls()
			require.Len(t, calls, 4)
			for _, later := range calls[1:] {
				for _, word := range append(strings.Fields(answered), strings.Fields(asked)...) {
					require.Contains(t, string(later.Body), word)
				}
			}
			require.Contains(t, string(calls[3].Body), "and then?")
		})
	}
}

// Another process and a call continue a live session.
func TestLiveSessionIsResumed(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		if name == home.Gemini {
			t.Skip("its live mode resumes no sessions")
		}
		resumeLive(t, start(t, name, home.LoggedIn, longTimeout, answerResumed), liveModel(name))
	})
	eachQwen(t, func(t *testing.T, of home.Install) {
		long(t)
		t.Parallel()
		c := qwen(t, of, home.LoggedIn, longTimeout, answerResumed)
		if of.Version(t) == "0.15.10" {
			req := clichain.Request{Session: handleOf(home.Qwen, unknownSessions[home.Claude])}
			require.ErrorIs(t, live.New(c.Provider, &live.Config{Request: req}).Start(t.Context()), clichain.ErrUnsupported, "this version cannot resume a session")
			return
		}
		resumeLive(t, c, "")
	})
}

// resumed are the questions of resumeLive and their answers.
var resumed = [][2]string{{asked, answered}, {"and now?", hello}, {"and then?", "third"}, {"and cold?", "fourth"}, {"and again?", "fifth"}}

// answerResumed answers the latest question of a request. Some CLIs send more requests than questions.
func answerResumed(q loopback.Request) loopback.Reply {
	for _, one := range slices.Backward(resumed) {
		if strings.Contains(string(q.Body), one[0]) {
			return loopback.Text(one[1])
		}
	}
	return loopback.Text("")
}

// resumeLive has one conversation in three processes and one call. The usage must be that of one turn.
func resumeLive(t *testing.T, c cli, model string) {
	t.Helper()
	converse := func(session string, questions ...[2]string) (last *clichain.Response) {
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: model, Session: session}})
		defer s.Stop()
		require.NoError(t, s.Start(t.Context()))
		for _, one := range questions {
			resp, err := s.Ask(t.Context(), one[0])
			require.NoError(t, err)
			require.Equal(t, one[1], resp.Text, "text of one turn")
			require.NotEmpty(t, resp.Session)
			require.Equal(t, resp.Session, s.Status().Session)
			require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens, "usage of one turn")
			last = resp
		}
		return last
	}
	first := converse("", resumed[0])
	second := converse(first.Session, resumed[1], resumed[2])
	require.Equal(t, first.Session, second.Session)

	cold := clichain.Prompt(resumed[3][0])
	cold.Session, cold.Model = first.Session, model
	resp, err := c.Complete(t.Context(), cold)
	require.NoError(t, err)
	require.Equal(t, resumed[3][1], resp.Text)
	require.Equal(t, first.Session, resp.Session)
	require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens, "usage of one call, not of the session")
	require.Equal(t, first.Session, converse(first.Session, resumed[4]).Session)

	calls := c.server.Calls()
	require.GreaterOrEqual(t, len(calls), len(resumed))
	for i, one := range resumed {
		at := slices.IndexFunc(calls, func(q loopback.Request) bool { return strings.Contains(string(q.Body), one[0]) })
		for _, earlier := range resumed[:i] {
			for _, word := range append(strings.Fields(earlier[1]), earlier[0]) { // some APIs get the answer in the pieces that they sent
				require.Contains(t, string(calls[at].Body), word, one[0])
			}
		}
	}
}

// A session of codex started with more access. A thread keeps its own sandbox, whatever the arguments are. clichain
// must apply the access of the new request.
func TestLiveSessionIsResumedWithLessAccess(t *testing.T) {
	outside, err := os.MkdirTemp("/var/tmp", "clichain-") // the sandbox allows writes in /tmp
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(outside) })
	file := filepath.Join(outside, "made")
	c := start(t, home.Codex, home.LoggedIn, flagsOnly, loopback.InOrder(
		loopback.Text(answered), loopback.Tool("exec_command", map[string]any{"cmd": "touch " + file, "yield_time_ms": 10000}), loopback.Text(hello),
	))
	session := ""
	for _, access := range []clichain.Access{clichain.AccessFull, clichain.AccessWrite} {
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Access: access, Dir: c.home.Work, Session: session}})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		resp, err := s.Ask(t.Context(), "say hi")
		require.NoError(t, err)
		session = resp.Session
		s.Stop()
	}
	require.Len(t, c.server.Calls(), 3)
	require.Contains(t, string(c.server.Calls()[2].Body), "function_call_output", "the tool was used")
	require.NoFileExists(t, file)
}

// Without persistence a session is not stored and has no handle.
func TestLiveSessionIsNotStored(t *testing.T) {
	c := start(t, home.Codex, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	for _, forget := range []bool{true, false} {
		req := clichain.Request{}
		req.Options.NoSessionPersistence = forget
		s := live.New(c.Provider, &live.Config{Request: req})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		resp, err := s.Ask(t.Context(), "say hi")
		require.NoError(t, err)
		s.Stop()
		require.Equal(t, forget, resp.Session == "")
		stored, err := filepath.Glob(filepath.Join(c.home.Dir, ".codex/sessions/*/*/*/*"))
		require.NoError(t, err)
		require.Equal(t, forget, len(stored) == 0, "%v", stored)
	}
}

// An unknown session, or an ID that is in use, is an error. The CLI must not start a new conversation.
func TestLiveSessionWithUnknownID(t *testing.T) {
	c := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	attempt := func(req clichain.Request) error {
		s := live.New(c.Provider, &live.Config{Request: req})
		t.Cleanup(s.Kill)
		err := s.Start(t.Context())
		if err == nil {
			_, err = s.Ask(t.Context(), "and now?")
		}
		s.Stop()
		return err
	}
	require.ErrorIs(t, attempt(clichain.Request{Session: handleOf(home.Claude, unknownSessions[home.Claude])}), clichain.ErrBadSession)
	require.Empty(t, c.server.Calls())
	taken := clichain.Request{}
	taken.Options.SessionID = "0f8b7d3e-5f64-4f0e-9a53-0d6c1a1f2b3f"
	require.NoError(t, attempt(taken))
	require.ErrorIs(t, attempt(taken), clichain.ErrBadSession)
}

// No CLI starts a new session in place of an unknown one. Only claude accepts the ID of a new session.
func TestLiveSessionIsRefused(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
		unknown := clichain.Request{Model: liveModel(name), Session: handleOf(name, unknownSessions[name]), Access: clichain.AccessRead, Dir: c.home.Work}
		if name == home.Codex { // codex has no live mode with AccessRead
			unknown.Access, unknown.Dir = clichain.AccessNone, ""
		}
		s := live.New(c.Provider, &live.Config{Request: unknown})
		t.Cleanup(s.Kill)
		err := s.Start(t.Context())
		if err == nil {
			_, err = s.Ask(t.Context(), "and now?")
		}
		s.Stop()
		want := clichain.ErrBadSession
		if name == home.Gemini {
			want = clichain.ErrUnsupported
		}
		require.ErrorIs(t, err, want)
		require.Empty(t, c.server.Calls())
		t.Log(err)

		if name == home.Claude {
			return
		}
		named := clichain.Request{Model: liveModel(name)}
		named.Options.SessionID = unknownSessions[name]
		require.ErrorIs(t, live.New(c.Provider, &live.Config{Request: named}).Start(t.Context()), clichain.ErrUnsupported)
	})
}

// A session must report the end of a CLI that is killed between two turns, although no call runs.
func TestLiveSessionReportsEndBetweenTurns(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			s := live.New(c.Provider, nil)
			t.Cleanup(s.Kill)
			require.NoError(t, s.Start(t.Context()))
			_, err := s.Ask(t.Context(), "say hi")
			require.NoError(t, err)
			var last clichain.Event
			for e, err := range s.Events() {
				require.NoError(t, err)
				if last = e; e.Text == string(live.Running) {
					for _, process := range living(t, c.home) {
						pid, _, _ := strings.Cut(process, " ")
						id, err := strconv.Atoi(pid)
						require.NoError(t, err, process)
						_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended with the process before
					}
				}
			}
			require.Equal(t, clichain.EventState, last.Kind)
			require.Equal(t, string(live.Error), last.Text)
			require.Equal(t, clichain.ReasonKilled, last.Reason, last.Message)
			t.Log(last.Message)
		})
	}
}
