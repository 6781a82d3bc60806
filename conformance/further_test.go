package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// The helpers below test the CLIs that the chain knows in addition to the first four.

// answersLean makes a plain completion in a chain. It must be one small request without tools, with the unchanged
// prompt.
func answersLean(t *testing.T, name string, limit int) loopback.Request {
	t.Helper()
	c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
	for _, prompt := range []string{"say hi", "/help me with @/etc/hostname"} {
		before := len(c.server.Calls())
		req := clichain.Prompt(prompt)
		req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
		resp, err := clichain.ChainOf([]clichain.Backend{c}, nil).Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, hello, resp.Text)
		require.Equal(t, name, resp.Backend)
		require.Empty(t, resp.Flags)
		require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens)
		calls := c.server.Calls()[before:]
		require.Len(t, calls, 1)
		require.Contains(t, calls[0].Prompt(), prompt)
		require.Empty(t, calls[0].Tools())
		t.Logf("request body %d bytes, answered in %v", len(calls[0].Body), resp.Duration.Round(time.Millisecond))
		require.LessOrEqual(t, len(calls[0].Body), limit)
	}
	require.Empty(t, sideCalls(c.server))
	return c.server.Calls()[0]
}

// failure is a failure of a CLI and the reason that the chain must report.
type failure struct {
	reply  loopback.Reply
	state  home.State
	reason clichain.Reason
}

// everyFailure returns the failures that each CLI can have.
func everyFailure(name string) map[string]failure {
	return map[string]failure{
		"key refused":  {reply: problem(name, http.StatusUnauthorized), reason: clichain.ReasonUnauthenticated},
		"rate limited": {reply: problem(name, http.StatusTooManyRequests), reason: clichain.ReasonRateLimited},
		"server error": {reply: problem(name, http.StatusInternalServerError), reason: clichain.ReasonServerError},
		"logged out":   {reply: loopback.Text("never"), state: home.LoggedOut, reason: clichain.ReasonUnauthenticated},
		"no answer":    {reply: loopback.Reply{}, reason: clichain.ReasonEmpty},
	}
}

// fails checks each failure in a chain. The next CLI must answer long before the timeout.
func fails(t *testing.T, name string, failures map[string]failure) {
	t.Helper()
	long(t)
	for label, f := range failures {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			failing := start(t, name, f.state, longTimeout, loopback.Always(f.reply))
			next := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			resp, err := clichain.ChainOf([]clichain.Backend{failing, next}, nil).Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, home.Claude, resp.Backend)
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, f.reason, resp.Attempts[0].Reason, resp.Attempts[0].Err)
			require.NotErrorIs(t, resp.Attempts[0].Err, clichain.ErrTimeout)
		})
	}
}

// continuesSession checks that a second call continues the session of the first.
func continuesSession(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), loopback.Text(hello)))
	first, err := c.Complete(t.Context(), clichain.Prompt(asked))
	require.NoError(t, err)
	next := clichain.Prompt("and now?")
	next.Session = first.Session
	second, err := c.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, hello, second.Text)
	require.Empty(t, second.Flags)
	require.Equal(t, first.Session, second.Session)
	body := string(c.server.Calls()[1].Body)
	require.Contains(t, body, asked)
	require.Contains(t, body, answered)

	next.Session = handleOf(name, unknownSessions[name])
	_, err = c.Complete(t.Context(), next)
	require.ErrorIs(t, err, clichain.ErrBadSession)
	require.Len(t, c.server.Calls(), 2, "the CLI called the model")
}

// toolReplies are functions that return the replies in which a model uses the tools of a CLI.
type toolReplies struct {
	read  func(path string) loopback.Reply
	write func(path string) loopback.Reply
	run   func(command string) loopback.Reply
}

// checksAccess plays a model that reads a file, writes inside and outside the directory, and runs a command, at each
// access level.
func checksAccess(t *testing.T, name string, h toolReplies) {
	t.Helper()
	long(t)
	for access, want := range map[clichain.Access]struct{ writes, writesElsewhere, runs bool }{
		clichain.AccessRead: {}, clichain.AccessWrite: {writes: true}, clichain.AccessFull: {true, true, true},
	} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			var work string
			c := start(t, name, home.LoggedIn, flagsOnly, func(q loopback.Request) loopback.Reply {
				replies := []loopback.Reply{
					h.read(work + "/notes.txt"), h.write(work + "/wrote"), h.write(work + "/../wrote"), h.run("touch " + work + "/ran"),
					loopback.Text(hello),
				}
				return replies[min(q.N, len(replies))-1]
			})
			work = c.home.Work
			c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
			resp, err := c.Complete(t.Context(), c.askIn(access, "go on"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Contains(t, results(c), "indigo")
			require.Equal(t, want.writes, fileExists(work+"/wrote"), results(c))
			require.Equal(t, want.writesElsewhere, fileExists(c.home.Dir+"/wrote"), results(c))
			require.Equal(t, want.runs, fileExists(work+"/ran"), results(c))
		})
	}
}
