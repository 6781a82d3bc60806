package conformance_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// qwen is the sixth CLI: all that clichain knows of it is in a file.
func qwen(t *testing.T) clichain.CliSpec {
	t.Helper()
	file, err := os.Open("../docs/examples/qwen-code.yaml")
	require.NoError(t, err)
	defer file.Close()
	list, warnings, err := specs.Lint(file)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, list, 1)
	return list[0]
}

// A plain completion is one small request without tools, in a chain as alone.
func TestQwenAnswers(t *testing.T) {
	c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
	req := clichain.Prompt("/help me with @/etc/hostname")
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
	resp, err := clichain.ChainOf([]clichain.Backend{c}, nil).Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.Equal(t, "qwen-code", resp.Backend)
	require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens)
	calls := c.server.Calls()
	require.Len(t, calls, 1)
	require.Empty(t, sideCalls(c.server))
	require.Equal(t, "Answer in French.", calls[0].System())
	require.Contains(t, calls[0].Prompt(), "/help me with @/etc/hostname")
	require.Empty(t, calls[0].Tools())
	require.Less(t, len(calls[0].Body), 1_000)
}

// Its errors come as answers, and are none. The chain goes on to a CLI with a
// built-in spec.
func TestQwenFails(t *testing.T) {
	long(t)
	for label, test := range map[string]struct {
		reply   loopback.Reply
		state   home.State
		timeout time.Duration
		reason  clichain.Reason
	}{
		"key refused":  {problem(home.OpenCode, http.StatusUnauthorized), home.LoggedIn, minute, clichain.ReasonUnauthenticated},
		"no answer":    {loopback.Reply{}, home.LoggedIn, minute, clichain.ReasonEmpty},
		"logged out":   {loopback.Text("never"), home.LoggedOut, minute, clichain.ReasonUnauthenticated},
		"rate limited": {problem(home.OpenCode, http.StatusTooManyRequests), home.LoggedIn, 4 * time.Second, clichain.ReasonTimeout}, // it tries again, in silence
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := startSpec(t, qwen(t), test.state, clichain.Config{Timeout: test.timeout}, loopback.Always(test.reply))
			next := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			resp, err := clichain.ChainOf([]clichain.Backend{c, next}, nil).Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, home.Claude, resp.Backend)
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, test.reason, resp.Attempts[0].Reason, resp.Attempts[0].Err)
		})
	}
}

// An error after the first turn has tokens that were paid for.
func TestQwenFailsLater(t *testing.T) {
	look := loopback.Tool("list_directory", map[string]any{"path": "/"})
	c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, loopback.InOrder(look, problem(home.OpenCode, http.StatusUnauthorized)))
	_, err := c.Complete(t.Context(), c.askIn(clichain.AccessRead, "what is there?"))
	require.ErrorIs(t, err, clichain.ErrUnauthenticated)
	require.Len(t, c.server.Calls(), 2)
}

// What a model says about errors of a service is its answer.
func TestQwenMaySpeakOfErrors(t *testing.T) {
	const text = "[API Error: 401 is what it said]"
	c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, loopback.Always(loopback.Text(text)))
	resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Equal(t, text, resp.Text)
}

// It goes on from its session, where that was made.
func TestQwenGoesOn(t *testing.T) {
	c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), loopback.Text(hello)))
	first, err := c.Complete(t.Context(), clichain.Prompt(asked))
	require.NoError(t, err)
	next := clichain.Prompt("and now?")
	next.Session = first.Session
	second, err := c.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, first.Session, second.Session)
	require.Contains(t, string(c.server.Calls()[1].Body), asked)
	require.Contains(t, string(c.server.Calls()[1].Body), answered)
}

// Each access level lets it do what it says.
func TestQwenAccess(t *testing.T) {
	long(t)
	for access, want := range map[clichain.Access]struct{ writes, runs bool }{
		clichain.AccessRead: {false, false}, clichain.AccessWrite: {true, false}, clichain.AccessFull: {true, true},
	} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			var work string // it takes absolute paths only
			c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, func(q loopback.Request) loopback.Reply {
				return []loopback.Reply{
					loopback.Tool("read_file", map[string]any{"file_path": work + "/notes.txt"}),
					loopback.Tool("write_file", map[string]any{"file_path": work + "/wrote", "content": "hello\n"}),
					shell(home.Gemini, "touch "+work+"/ran"), loopback.Text(hello),
				}[q.N-1]
			})
			work = c.home.Work
			c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
			resp, err := c.Complete(t.Context(), c.askIn(access, "go on"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Contains(t, results(c), "indigo")
			_, err = os.Stat(work + "/wrote")
			require.Equal(t, want.writes, err == nil, results(c))
			_, err = os.Stat(work + "/ran")
			require.Equal(t, want.runs, err == nil, results(c))
		})
	}
}

// Its live mode is in the file as well: another CLI that speaks the protocol needs no code.
func TestQwenLive(t *testing.T) {
	c := startSpec(t, qwen(t), home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
	p, b := warm(t, c, nil)
	for _, text := range []string{asked, "/help me", "and now?"} {
		resp, err := b.Complete(t.Context(), clichain.Prompt(text))
		require.NoError(t, err)
		require.Equal(t, answered, resp.Text)
		require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, 10*time.Millisecond)
	}
	require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 3}, p.Stats())
	calls := c.server.Calls()
	require.Contains(t, calls[1].Prompt(), "/help me")
	for _, q := range calls[1:] {
		require.NotContains(t, string(q.Body), "zyzzyva")
	}
}
