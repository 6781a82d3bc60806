package conformance_test

import (
	"fmt"
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

// A live session names its own session, goes on from one of a call, and a call and another live session go on from it.
func TestLiveSessionGoesOn(t *testing.T) {
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
			id := fmt.Sprintf("0f8b7d3e-5f64-4f0e-9a53-0d6c1a1f2b3%d", access) // one record of a user for each
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
				require.InDelta(t, *first.Usage.CostUSD, *resp.Usage.CostUSD, 0.2**first.Usage.CostUSD, "of the turn, not of the session")
			}

			cold := again
			cold.Messages = clichain.Prompt("and cold?").Messages
			resp, err := c.Complete(t.Context(), cold)
			require.NoError(t, err)
			require.Equal(t, "fourth", resp.Text)
			require.InDelta(t, *first.Usage.CostUSD, *resp.Usage.CostUSD, 0.2**first.Usage.CostUSD, "of the call, not of the session")

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

// A session that the CLI does not know, or whose id is taken, is an error and no conversation that begins anew.
func TestLiveSessionOfAnUnknownOne(t *testing.T) {
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

// A CLI whose live mode goes on from no session refuses one before anything starts.
func TestLiveSessionIsUnsupported(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		if name == home.Claude {
			t.Skip("it goes on")
		}
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
		req := clichain.Request{Model: liveModel(name), Session: handleOf(name, unknownSessions[name])}
		err := live.New(c.Provider, &live.Config{Request: req}).Start(t.Context())
		require.ErrorIs(t, err, clichain.ErrUnsupported)
		require.Empty(t, c.server.Calls())
		t.Log(err)
	})
}

// A CLI that is killed between two turns is told of without a call.
func TestLiveSessionTellsOfAnEndBetweenTurns(t *testing.T) {
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
						_ = syscall.Kill(id, syscall.SIGKILL) // it may have gone with the one before
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
