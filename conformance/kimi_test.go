package conformance_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A plain completion is one small request without tools, with only the caller's system text.
func TestKimiAnswers(t *testing.T) {
	long(t)
	c := start(t, home.Kimi, home.LoggedIn, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
	req := clichain.Prompt("/help me with @/etc/hostname")
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	calls := c.server.Calls()
	require.Len(t, calls, 1)
	require.Empty(t, sideCalls(c.server))
	require.Empty(t, calls[0].Tools())
	require.Equal(t, "Answer in French.", calls[0].System())
	require.Contains(t, string(calls[0].Body), `{"role":"user","content":"/help me with @/etc/hostname"}`)
	t.Logf("request body %d bytes", len(calls[0].Body))
	require.Less(t, len(calls[0].Body), 1_000)
	require.Empty(t, living(t, c.home))
}

// The prompt must reach the model once, even if it looks like a command. "/goal" would keep kimi working until a user
// stops it.
func TestKimiPrompts(t *testing.T) {
	long(t)
	for _, prompt := range []string{"/goal win", "\n /goal", "--help me", "-p", strings.Repeat("0123456789 abcdefghij\n", 5_000) + "end"} {
		t.Run(strings.TrimSpace(prompt[:2]), func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Kimi, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			_, err := c.Complete(t.Context(), clichain.Prompt(prompt))
			require.NoError(t, err)
			require.Len(t, c.server.Calls(), 1)
			require.Contains(t, string(c.server.Calls()[0].Body), strings.ReplaceAll(prompt, "\n", `\n`))
		})
	}
}

func TestKimiFails(t *testing.T) {
	long(t)
	for label, test := range map[string]struct {
		reply  loopback.Reply
		state  home.State
		reason clichain.Reason
	}{
		"key refused": {problem(home.Kimi, http.StatusUnauthorized), home.LoggedIn, clichain.ReasonUnauthenticated},
		"bad request": {problem(home.Kimi, http.StatusBadRequest), home.LoggedIn, clichain.ReasonBadRequest},
		"logged out":  {loopback.Text("never"), home.LoggedOut, clichain.ReasonUnauthenticated},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Kimi, test.state, longTimeout, loopback.Always(test.reply))
			_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
			require.Equal(t, test.reason, call.AsError(home.Kimi, err).Reason, "%v", err)
		})
	}
}

// kimi retries ten times, for minutes, after an empty answer too. The chain does not wait for that.
func TestKimiStopsEarly(t *testing.T) {
	long(t)
	for status, reason := range map[int]clichain.Reason{
		http.StatusTooManyRequests: clichain.ReasonRateLimited, http.StatusInternalServerError: clichain.ReasonServerError,
	} {
		stopsEarly(t, home.Kimi, status, reason)
	}
}

// kimi continues a session that started without access, and has no tools in it.
func TestKimiContinuesSession(t *testing.T) {
	long(t)
	c := start(t, home.Kimi, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), shell(home.Kimi, "touch ran"), loopback.Text(hello)))
	first, err := c.Complete(t.Context(), clichain.Prompt(asked))
	require.NoError(t, err)
	next := clichain.Prompt("and now?")
	next.Session = first.Session
	second, err := c.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, hello, second.Text)
	require.Equal(t, first.Session, second.Session)
	calls := c.server.Calls()
	require.Contains(t, string(calls[1].Body), asked)
	require.Contains(t, string(calls[1].Body), answered)
	require.Equal(t, "You are a helpful assistant.", calls[1].System())
	require.Empty(t, calls[1].Tools())
	require.Contains(t, results(c), `Tool "Bash" not found`)
}

// A session keeps its first set of tools. A session with all tools continues only with AccessFull.
func TestKimiSessionKeepsTools(t *testing.T) {
	long(t)
	c := start(t, home.Kimi, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
	first, err := c.Complete(t.Context(), c.askIn(clichain.AccessFull, asked))
	require.NoError(t, err)
	for access, reason := range map[clichain.Access]clichain.Reason{
		clichain.AccessNone: clichain.ReasonBadSession, clichain.AccessRead: clichain.ReasonUnsupported,
		clichain.AccessWrite: clichain.ReasonUnsupported, clichain.AccessFull: "",
	} {
		next := clichain.Prompt("and now?")
		next.Access, next.Session = access, first.Session
		_, err := c.Complete(t.Context(), next)
		if reason == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, reason, call.AsError(home.Kimi, err).Reason, "%v: %v", access, err)
	}
	require.Len(t, c.server.Calls(), 2)
	require.NotEmpty(t, c.server.Calls()[1].Tools())
}

// Each access level allows the tools that it names. kimi has no AccessWrite.
func TestKimiAccess(t *testing.T) {
	long(t)
	for access, runs := range map[clichain.Access]bool{clichain.AccessNone: false, clichain.AccessRead: false, clichain.AccessFull: true} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Kimi, home.LoggedIn, flagsOnly, loopback.InOrder(
				readTool[home.Kimi], loopback.Tool("Write", map[string]any{"path": "out.txt", "content": "hello\n"}),
				loopback.Tool("Edit", map[string]any{"path": "notes.txt", "old_string": "indigo", "new_string": "orange"}),
				shell(home.Kimi, "touch ran"), loopback.Text(hello)))
			note := c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
			req := clichain.Prompt("go on")
			if access != clichain.AccessNone {
				req = c.askIn(access, "go on")
			}
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, access != clichain.AccessNone, strings.Contains(results(c), "indigo"), results(c))
			require.Equal(t, runs, fileExists(filepath.Join(c.home.Dir, "work/out.txt")), results(c))
			require.Equal(t, runs, fileExists(filepath.Join(c.home.Dir, "work/ran")), results(c))
			require.Equal(t, runs, strings.Contains(everyFile(t, c.home.Work)[note], "orange"), results(c))
			require.Empty(t, living(t, c.home))
		})
	}
	c := start(t, home.Kimi, home.LoggedIn, longTimeout, nil)
	_, err := c.Complete(t.Context(), c.askIn(clichain.AccessWrite, "go on"))
	require.ErrorIs(t, err, clichain.ErrUnsupported)
	require.Empty(t, c.server.Requests())
}

// A limit of turns ends a run that would continue.
func TestKimiTurnLimit(t *testing.T) {
	long(t)
	c := start(t, home.Kimi, home.LoggedIn, longTimeout, loopback.Always(shell(home.Kimi, "echo ran")))
	req := c.agent()
	req.Options.MaxTurns = 2
	_, err := c.Complete(t.Context(), req)
	require.ErrorIs(t, err, clichain.ErrBadOutput)
	require.Len(t, c.server.Calls(), 2)
}

// kimiCases are options of kimi.
func kimiCases() map[string]optionCase {
	answer := loopback.Text(hello)
	return map[string]optionCase{
		"kimi effort": {home.Kimi, clichain.AccessNone, answer, func(_ cli, o *clichain.Options) { o.Effort = "high" }, sent(`"effort":"high"`)},
		"kimi with a system text": {home.Kimi, clichain.AccessFull, answer, func(_ cli, o *clichain.Options) {
			o.SystemMode, o.AppendSystem = call.SystemReplace, "Count beetles."
		}, both(sent("Count beetles."), offered("Bash", "none"))},
		"kimi without a tool": {home.Kimi, clichain.AccessRead, answer, func(_ cli, o *clichain.Options) { o.DisallowedTools = []string{"Grep"} }, offered("Read", "Grep")},
	}
}
