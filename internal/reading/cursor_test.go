package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// There is no recording of cursor-agent. These lines are its documented output, each with its events.
var cursorLines = []struct{ line, want string }{
	{`{"type":"system","subtype":"init","session_id":"s-1","model":"auto","apiKeySource":"env"}`, "session"},
	{`{"type":"user","message":{"content":[{"type":"text","text":"hi"}]},"session_id":"s-1"}`, "status asked"},
	{`{"type":"thinking","subtype":"delta","text":"hm","timestamp_ms":1}`, "thinking hm"},
	{`{"type":"assistant","timestamp_ms":3,"message":{"content":[{"type":"text","text":"Let me"}]}}`, "delta Let me"},
	{`{"type":"assistant","model_call_id":"m","timestamp_ms":4,"message":{"content":[{"type":"text","text":"Let me look."}]}}`, "delta  look."},
	{`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"}}}}`, `tool_use readToolCall{"path":"a"}`},
	{`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"},"result":"seen"}}}`, "tool_result seen"},
	{`{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}`, "text Done."},
}

// cursorRun replays a run that ends with a line and an exit code, and returns each event as a word and its
// text.
func cursorRun(t *testing.T, last string, status int) (text string, resp call.Response, failure *call.Error, seen []string) {
	t.Helper()
	stdout := ""
	for _, l := range cursorLines {
		stdout += l.line + "\n"
	}
	rec := Recording{Output: clispec.OutputStream, Stdout: stdout + last + "\n", ExitCode: status}
	text, resp, failure, events := Replay(specs.Cursor(), rec)
	for _, e := range events {
		seen = append(seen, strings.TrimRight(string(e.Kind)+" "+e.Text+e.Name+string(e.Input), " "))
	}
	return text, resp, failure, seen
}

func TestCursor(t *testing.T) {
	const last = `{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s-2",` +
		`"usage":{"inputTokens":5,"outputTokens":7,"cacheReadTokens":3,"cacheWriteTokens":2}}`
	text, resp, failure, seen := cursorRun(t, last, 0)
	require.Nil(t, failure)
	require.Equal(t, "Done.", text)
	require.Equal(t, call.Response{
		Session: "s-2", Model: "auto", KeySource: "env",
		Usage: call.Usage{InputTokens: 5, OutputTokens: 7, CacheReadTokens: 3, CacheWriteTokens: 2},
	}, resp)
	for _, l := range cursorLines {
		require.Equal(t, l.want, seen[0], l.line)
		if seen = seen[1:]; seen[0] == "reset" { // the text before the tool was a remark
			seen = seen[1:]
		}
	}
	require.Equal(t, "result Done.", seen[len(seen)-1])
}

// An error of cursor-agent is never an answer, whatever the exit code.
func TestCursorError(t *testing.T) {
	for last, want := range map[string]string{
		`{"type":"result","subtype":"error","is_error":true,"result":"too many requests","session_id":"s-1"}`: "too many requests",
		`{"type":"result","is_error":true,"error":"Error: rate limit exceeded"}`:                              "Error: rate limit exceeded",
	} {
		for _, status := range []int{0, 1} {
			text, resp, failure, _ := cursorRun(t, last, status)
			require.Empty(t, text)
			require.NotNil(t, failure, last)
			require.Equal(t, call.ReasonRateLimited, failure.Reason)
			require.Equal(t, want, failure.Message)
			require.Equal(t, "s-1", resp.Session)
		}
	}
}
