package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A plain completion is one request without tools. copilot keeps its own system text and adds the caller's text to
// it.
func TestCopilotAnswers(t *testing.T) {
	long(t)
	c := start(t, home.Copilot, home.LoggedIn, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
	req := clichain.Prompt("what is in @/etc/hostname ?")
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.Equal(t, "m1", resp.Model)
	calls := c.server.Calls()
	require.Len(t, calls, 1)
	require.Empty(t, sideCalls(c.server))
	require.Empty(t, calls[0].Tools())
	require.Contains(t, calls[0].System(), "<agent_instructions>")
	require.Equal(t, 1, strings.Count(calls[0].System(), "Answer in French."))
	require.True(t, strings.HasSuffix(calls[0].Prompt(), "\n\nwhat is in @/etc/hostname ?"), calls[0].Prompt())
	t.Logf("request body %d bytes", len(calls[0].Body))
	require.Less(t, len(calls[0].Body), 9_000)
	require.Empty(t, living(t, c.home))
}

// A long prompt must arrive, and so must a prompt that looks like a command of copilot.
func TestCopilotPrompts(t *testing.T) {
	long(t)
	for _, prompt := range []string{"/compact now", "\n /autopilot on", "--help me", strings.Repeat("0123456789 abcdefghij\n", 8_000) + "end"} {
		t.Run(prompt[:9], func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Copilot, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			_, err := c.Complete(t.Context(), clichain.Prompt(prompt))
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(c.server.Calls()[0].Prompt(), prompt), "%.200q", c.server.Calls()[0].Prompt())
		})
	}
}

// copilot counts the tokens itself and rejects a prompt that is longer than the model's context.
func TestCopilotRejectsLongPrompt(t *testing.T) {
	long(t)
	c := start(t, home.Copilot, home.LoggedIn, longTimeout, nil)
	_, err := c.Complete(t.Context(), clichain.Prompt(strings.Repeat("0123456789 abcdefghij\n", 20_000)))
	require.ErrorIs(t, err, clichain.ErrContextOverflow)
	require.Empty(t, c.server.Calls())
}

func TestCopilotFails(t *testing.T) {
	long(t)
	for label, test := range map[string]struct {
		reply  loopback.Reply
		state  home.State
		reason clichain.Reason
	}{
		"key refused": {problem(home.Copilot, http.StatusUnauthorized), home.LoggedIn, clichain.ReasonUnauthenticated},
		"bad request": {problem(home.Copilot, http.StatusBadRequest), home.LoggedIn, clichain.ReasonBadRequest},
		"no answer":   {loopback.Reply{}, home.LoggedIn, clichain.ReasonEmpty},
		"logged out":  {loopback.Text("never"), home.LoggedOut, clichain.ReasonUnauthenticated},
	} {
		for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputText} {
			t.Run(label+" "+string(output), func(t *testing.T) {
				t.Parallel()
				cfg := longTimeout
				cfg.Output = output
				c := start(t, home.Copilot, test.state, cfg, loopback.Always(test.reply))
				_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
				require.Equal(t, test.reason, call.AsError(home.Copilot, err).Reason, "%v", err)
			})
		}
	}
}

// copilot retries for up to a minute. The chain does not wait for that.
func TestCopilotStopsEarly(t *testing.T) {
	long(t)
	for status, reason := range map[int]clichain.Reason{
		http.StatusTooManyRequests: clichain.ReasonRateLimited, http.StatusInternalServerError: clichain.ReasonServerError,
	} {
		stopsEarly(t, home.Copilot, status, reason)
	}
}

// stopsEarly checks that a chain stops a failing CLI before the last retry of the CLI.
func stopsEarly(t *testing.T, name string, status int, reason clichain.Reason) {
	t.Run(http.StatusText(status), func(t *testing.T) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(problem(name, status)))
		resp, err := withSpare(c, nil).Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Len(t, resp.Attempts, 1)
		require.Equal(t, reason, resp.Attempts[0].Reason, resp.Attempts[0].Err)
		require.Less(t, len(c.server.Calls()), 5, "the chain waited for all retries")
		require.Empty(t, living(t, c.home))
	})
}

// The session started with all permissions. The next call runs in its own directory and with its own, lower access.
func TestCopilotContinuesSession(t *testing.T) {
	long(t)
	c := start(t, home.Copilot, home.LoggedIn, longTimeout, loopback.InOrder(
		shell(home.Copilot, "touch first"), loopback.Text(answered),
		shell(home.Copilot, "touch second"), writeTool[home.Copilot], loopback.Text(hello)))
	first, err := c.Complete(t.Context(), c.askIn(clichain.AccessFull, asked))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(c.home.Work, "first"))
	next := clichain.Prompt("and now?")
	next.Session = first.Session
	second, err := c.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, hello, second.Text)
	require.Equal(t, first.Session, second.Session)
	require.Contains(t, string(c.server.Calls()[2].Body), asked)
	require.Contains(t, string(c.server.Calls()[2].Body), answered)
	require.NotContains(t, c.server.Calls()[2].System(), "directory: "+c.home.Work)
	require.NoFileExists(t, filepath.Join(c.home.Work, "second"))
	require.NoFileExists(t, filepath.Join(c.home.Work, "out.txt"))
}

// Each access level allows the tools that it names, and nothing outside the directory.
func TestCopilotAccess(t *testing.T) {
	long(t)
	for access, want := range map[clichain.Access]struct{ writes, runs bool }{
		clichain.AccessNone: {}, clichain.AccessRead: {}, clichain.AccessWrite: {writes: true}, clichain.AccessFull: {true, true},
	} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			var c cli
			c = start(t, home.Copilot, home.LoggedIn, flagsOnly, func(q loopback.Request) loopback.Reply {
				return []loopback.Reply{
					readTool[home.Copilot], writeTool[home.Copilot],
					loopback.Tool("create", map[string]any{"path": filepath.Join(c.home.Dir, "outside"), "file_text": "x"}),
					shell(home.Copilot, "touch ran"), loopback.Text(hello),
				}[q.N-1]
			})
			c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
			req := clichain.Prompt("go on")
			if access != clichain.AccessNone {
				req = c.askIn(access, "go on")
			}
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, access != clichain.AccessNone, strings.Contains(results(c), "indigo"), results(c))
			require.Equal(t, want.writes, fileExists(filepath.Join(c.home.Dir, "work/out.txt")), results(c))
			require.Equal(t, want.runs, fileExists(filepath.Join(c.home.Dir, "outside")), results(c))
			require.Equal(t, want.runs, fileExists(filepath.Join(c.home.Dir, "work/ran")), results(c))
			require.Empty(t, living(t, c.home))
		})
	}
}

// copilotCases are options of copilot.
func copilotCases() map[string]optionCase {
	answer := loopback.Text(hello)
	run := shell(home.Copilot, "touch made")
	allow := func(tools ...string) func(cli, *clichain.Options) {
		return func(_ cli, o *clichain.Options) { o.AllowedTools = tools }
	}
	none := func(cli, *clichain.Options) {}
	more := func(c cli, o *clichain.Options) { o.AddDirs = []string{filepath.Join(c.home.Dir, "more")} }
	out := loopback.Tool("create", map[string]any{"path": "../more/out.txt", "file_text": "hello\n"})
	return map[string]optionCase{
		"copilot effort": {home.Copilot, clichain.AccessNone, answer, func(_ cli, o *clichain.Options) { o.Effort = "high" }, sent(`"reasoning_effort":"high"`)},
		"copilot extra": {home.Copilot, clichain.AccessNone, answer, func(_ cli, o *clichain.Options) {
			o.Extra = map[string][]string{home.Copilot: {"--reasoning-effort=low"}}
		}, sent(`"reasoning_effort":"low"`)},
		"copilot added text":         {home.Copilot, clichain.AccessWrite, answer, func(_ cli, o *clichain.Options) { o.AppendSystem = "Count beetles." }, sent("Count beetles.")},
		"copilot may only search":    {home.Copilot, clichain.AccessRead, readTool[home.Copilot], allow("glob"), both(offered("glob", "grep"), notReturned("indigo"))},
		"copilot without its shell":  {home.Copilot, clichain.AccessWrite, run, none, made(false, "work/made")},
		"copilot with one command":   {home.Copilot, clichain.AccessWrite, run, allow("shell(touch:*)"), made(true, "work/made")},
		"copilot denied its shell":   {home.Copilot, clichain.AccessFull, run, func(_ cli, o *clichain.Options) { o.DisallowedTools = []string{"shell"} }, made(false, "work/made")},
		"copilot in one directory":   {home.Copilot, clichain.AccessWrite, out, none, made(false, "more/out.txt")},
		"copilot in two directories": {home.Copilot, clichain.AccessWrite, out, more, made(true, "more/out.txt")},
		"copilot with an MCP server": {home.Copilot, clichain.AccessWrite, answer, probe, sent("adds two numbers")},
	}
}

// probe adds an MCP server to the options.
func probe(_ cli, o *clichain.Options) {
	self, _ := os.Executable()
	o.MCPConfig = []json.RawMessage{fmt.Appendf(nil, `{"mcpServers":{"probe":{"command":%q,"args":[%q]}}}`, self, mcpServer)}
}
