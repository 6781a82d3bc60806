package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// Lines of claude's stream, which contains each text up to three times: in deltas, as a block, and in the
// result.
const (
	messageLine = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}},"parent_tool_use_id":null}`

	init1   = `{"type":"system","subtype":"init","session_id":"s1","model":"opus"}`
	toolUse = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`
)

func deltaLine(text string) string {
	return `{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"` + text + `"}}}`
}

func blockLine(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`
}

// withID returns a line as another event with the same text.
func withID(line string) string { return strings.TrimSuffix(line, "}") + `,"uuid":"u2"}` }

func resultLine(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"` + text + `","session_id":"s1"}`
}

func failedLine(text string) string {
	return `{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"` + text + `"}`
}

func structuredLine(output string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x","structured_output":` + output + `}`
}

const emptyResult = `{"type":"result","subtype":"success","is_error":false,"num_turns":1}`

// turnLimit is a truncated result with the partial answer.
const turnLimit = `{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3,"result":"half"}`

func replayClaude(output clispec.OutputMode, exit int, lines ...string) (string, call.Response, *call.Error, []call.Event) {
	return Replay(specs.Claude(), Recording{Output: output, Stdout: strings.Join(lines, "\n"), ExitCode: exit})
}

// textOf returns the text that a reader of the stream has received, with "|" between events and "<" for text
// that was taken back.
func textOf(events []call.Event) string {
	var seen []string
	for _, e := range events {
		switch e.Kind {
		case call.EventDelta, call.EventText:
			seen = append(seen, e.Text)
		case call.EventReset:
			seen = append(seen, "<")
		}
	}
	return strings.Join(seen, "|")
}

func TestTextIsDeliveredOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		seen  string
		text  string
	}{
		{"delta, then block", []string{deltaLine("Hel"), deltaLine("lo"), blockLine("Hello"), emptyResult}, "Hel|lo", "Hello"},
		{"block only", []string{blockLine("Hello"), emptyResult}, "Hello", "Hello"},
		{"delta only", []string{deltaLine("Hel"), deltaLine("lo"), emptyResult}, "Hel|lo", "Hello"},
		{"result only", []string{resultLine("Hello")}, "", "Hello"},
		{"the result wins", []string{blockLine("Hello"), resultLine("Bye")}, "Hello", "Bye"},
		{"deltas that stop early", []string{deltaLine("Hel"), blockLine("Hello"), emptyResult}, "Hel|lo", "Hello"},
		{"a block that differs is the truth", []string{deltaLine("Hello"), blockLine("Bye"), emptyResult}, "Hello|<|Bye", "Bye"},
		{"two blocks", []string{blockLine("A"), blockLine("B"), emptyResult}, "A|\n\nB", "A\n\nB"},
		{"two blocks in deltas", []string{deltaLine("A"), blockLine("A"), deltaLine("B"), blockLine("B"), emptyResult}, "A|\n\nB", "A\n\nB"},
		{"a block in deltas, then a whole one", []string{deltaLine("A"), blockLine("A"), blockLine("B"), emptyResult}, "A|\n\nB", "A\n\nB"},
		{"a whole block, then one in deltas", []string{blockLine("A"), deltaLine("B"), deltaLine("C"), blockLine("BC"), emptyResult}, "A|\n\nB|C", "A\n\nBC"},
		{"the result has the last block only", []string{deltaLine("A"), blockLine("A"), deltaLine("B"), blockLine("B"), resultLine("B")}, "A|\n\nB", "A\n\nB"},
		{"the last of the blocks after a tool", []string{blockLine("Let me see"), toolUse, blockLine("A"), blockLine("B"), resultLine("B")}, "Let me see|<|A|\n\nB", "A\n\nB"},
		{"no block after the tool", []string{blockLine("A"), blockLine("B"), toolUse, resultLine("C")}, "A|\n\nB|<", "C"},
		{"the result is no whole block", []string{blockLine("A"), blockLine("B."), resultLine(".")}, "A|\n\nB.", "."},
		{"the result is one of the blocks, not the last", []string{blockLine("A"), blockLine("B"), resultLine("A")}, "A|\n\nB", "A"},
		{"structured output is all of the answer", []string{blockLine("See:"), blockLine("7"), structuredLine("7")}, "See:|\n\n7", "7"},
		{"equal blocks are no repetition", []string{blockLine("A"), withID(blockLine("A")), emptyResult}, "A|\n\nA", "A\n\nA"},
		{"the answer comes after the tools", []string{blockLine("Let me see"), toolUse, blockLine("42"), emptyResult}, "Let me see|<|42", "42"},
		{"a block begun anew", []string{messageLine, deltaLine("Hel"), messageLine, deltaLine("Hello"), blockLine("Hello"), resultLine("Hello")}, "Hel|<|Hello", "Hello"},
		{"the second block begun anew", []string{messageLine, deltaLine("A"), blockLine("A"), deltaLine("B"), messageLine, deltaLine("C"), blockLine("C"), resultLine("C")},
			"A|\n\nB|<|A|\n\nC", "A\n\nC"},
		{"begun anew as a whole", []string{messageLine, deltaLine("Hel"), deltaLine("lo"), blockLine("Bye"), resultLine("Bye")}, "Hel|lo|<|Bye", "Bye"},
		{"the second begun anew as a whole", []string{blockLine("A"), deltaLine("B"), blockLine("C"), resultLine("C")}, "A|\n\nB|<|A|\n\nC", "A\n\nC"},
		{"begun anew twice", []string{deltaLine("A"), messageLine, deltaLine("B"), messageLine, deltaLine("C"), emptyResult}, "A|<|B|<|C", "C"},
		{"begun anew after a tool", []string{blockLine("Let me see"), toolUse, messageLine, deltaLine("B"), messageLine, deltaLine("C"), blockLine("C"), resultLine("C")},
			"Let me see|<|B|<|C", "C"},
		{"messages that are whole", []string{messageLine, deltaLine("A"), blockLine("A"), messageLine, deltaLine("B"), blockLine("B"), emptyResult}, "A|\n\nB", "A\n\nB"},
		{"a result without the blanks around it", []string{deltaLine("A "), blockLine("A "), resultLine("A")}, "A ", "A "},
		{"empty delta", []string{deltaLine(""), deltaLine("A"), emptyResult}, "A", "A"},
		{"empty block", []string{blockLine(""), blockLine("A"), emptyResult}, "A", "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, _, failure, events := replayClaude(clispec.OutputStream, 0, test.lines...)
			require.Nil(t, failure)
			require.Equal(t, test.seen, textOf(events))
			require.Equal(t, test.text, text)
		})
	}
}

func TestAnswerLastBlock(t *testing.T) {
	lines := []string{
		`{"type":"thread.started","thread_id":"t"}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"I will look."}}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"42"}}`,
		`{"type":"turn.completed","usage":{"input_tokens":1}}`,
	}
	text, resp, failure, _ := Replay(specs.Codex(), Recording{Output: clispec.OutputStream, Stdout: strings.Join(lines, "\n")})
	require.Nil(t, failure)
	require.Equal(t, "42", text)
	require.Equal(t, int64(1), resp.Usage.InputTokens)
}

// The last block is the answer, whether or not it came in deltas.
func TestAnswerLastBlockInDeltas(t *testing.T) {
	spec := specs.Claude()
	spec.Answer = clispec.AnswerLastBlock
	for name, lines := range map[string][]string{
		"in deltas":          {deltaLine("A"), blockLine("A"), deltaLine("4"), deltaLine("2"), blockLine("42"), emptyResult},
		"whole":              {blockLine("A"), blockLine("42"), emptyResult},
		"deltas, then whole": {deltaLine("A"), blockLine("A"), blockLine("42"), emptyResult},
		"and in the result":  {blockLine("A"), blockLine("42"), resultLine("42")},
	} {
		text, _, failure, _ := Replay(spec, Recording{Output: clispec.OutputStream, Stdout: strings.Join(lines, "\n")})
		require.Nil(t, failure, name)
		require.Equal(t, "42", text, name)
	}
}

// A remark before the tool use is no answer, but it is the partial text.
func TestRemarkIsPartialText(t *testing.T) {
	_, _, failure, _ := replayClaude(clispec.OutputStream, 0, blockLine("Let me look."), toolUse, emptyResult)
	require.ErrorIs(t, failure, call.ErrEmpty)
	require.Equal(t, "Let me look.", failure.Partial)
}

func TestTerminalEvent(t *testing.T) {
	for _, test := range []struct {
		name   string
		exit   int
		lines  []string
		text   string
		reason call.Reason
		warns  string
	}{
		{name: "result", lines: []string{init1, resultLine("A")}, text: "A"},
		{name: "a result without a line end counts", lines: []string{init1, resultLine("A")}, text: "A"},
		{name: "text but no result", lines: []string{init1, blockLine("A")}, text: "A", warns: "may be incomplete"},
		{name: "text but no result, and a bad exit", exit: 1, lines: []string{init1, blockLine("A")}, reason: call.ReasonExit},
		{name: "text, an error, no result", lines: []string{blockLine("A"), `{"type":"assistant","error":"rate_limit","message":{"content":[]}}`}, reason: call.ReasonRateLimited},
		{name: "text, a tool, no result", lines: []string{blockLine("A"), toolUse}, reason: call.ReasonBadOutput},
		{name: "a result cut short", lines: []string{init1, blockLine("A"), resultLine("A")[:40]}, text: "A", warns: "broken JSON"},
		{name: "events after the result", lines: []string{resultLine("A"), blockLine("B"), toolUse}, text: "A"},
		{name: "an error event after the result", lines: []string{resultLine("A"), `{"type":"assistant","error":"rate_limit","message":{"content":[]}}`}, text: "A"},
		{name: "the last of two results", lines: []string{resultLine("A"), resultLine("B")}, text: "B"},
		{name: "a failure after a result", lines: []string{resultLine("A"), failedLine("API Error: 500 boom")}, text: "A"},
		{name: "the first of two failures", lines: []string{failedLine("API Error: 500 boom"), failedLine("API Error: 401 later")}, reason: call.ReasonServerError},
		{name: "a result after a failure", lines: []string{failedLine("API Error: 500 boom"), resultLine("B")}, text: "B"},
		{name: "two results on one line", lines: []string{resultLine("A") + resultLine("B")}, reason: call.ReasonBadOutput},
		{name: "an answer and a bad exit", exit: 1, lines: []string{resultLine("A")}, text: "A", warns: "exited with status 1"},
		{name: "a failure and a good exit", lines: []string{failedLine("API Error: 529 overloaded")}, reason: call.ReasonOverloaded},
		{name: "an empty answer", lines: []string{init1, emptyResult}, reason: call.ReasonEmpty},
		{name: "nothing after the tools", lines: []string{blockLine("Let me look."), toolUse, emptyResult}, reason: call.ReasonEmpty},
		{name: "a blank after the tools", lines: []string{blockLine("Let me look."), toolUse, blockLine(" "), emptyResult}, reason: call.ReasonEmpty},
		{name: "a blank answer", lines: []string{resultLine(`\n \t`)}, reason: call.ReasonEmpty},
		{name: "type null", lines: []string{`{"type":null,"result":"A"}`}, reason: call.ReasonBadOutput},
		{name: "type number", lines: []string{`{"type":1,"result":"A"}`}, reason: call.ReasonBadOutput},
		{name: "no type", lines: []string{`{"result":"A"}`}, reason: call.ReasonBadOutput},
		{name: "CRLF", lines: []string{init1 + "\r", resultLine("A") + "\r"}, text: "A"},
		{name: "byte order mark", lines: []string{"\ufeff" + resultLine("A")}, text: "A"},
		{name: "colors around the line", lines: []string{"\x1b[32m" + resultLine("A") + "\x1b[0m"}, text: "A"},
		{name: "banners and blank lines", lines: []string{"Welcome!", "", "{not json}", resultLine("A"), "", "bye"}, text: "A", warns: "1 lines of output were broken"},
		{name: "the turn limit with text", exit: 1, lines: []string{blockLine("half"), `{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3}`}, text: "half", warns: "turn limit"},
		{name: "the turn limit with text in the result", exit: 1, lines: []string{turnLimit}, text: "half", warns: "turn limit"},
		{name: "the turn limit with text in the result, after a tool", exit: 1, lines: []string{blockLine("Let me look."), toolUse, turnLimit}, text: "half", warns: "turn limit"},
		{name: "the turn limit without text", exit: 1, lines: []string{`{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3}`}, reason: call.ReasonBadOutput},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, resp, failure, _ := replayClaude(clispec.OutputStream, test.exit, test.lines...)
			require.Equal(t, test.text, text)
			if test.reason != "" {
				require.NotNil(t, failure)
				require.Equal(t, test.reason, failure.Reason, "%v", failure)
				return
			}
			require.Nil(t, failure)
			require.Contains(t, strings.Join(resp.Warnings, "\n"), test.warns)
			require.Equal(t, test.warns == "", len(resp.Warnings) == 0, "%q", resp.Warnings)
		})
	}
}

func TestJSONMode(t *testing.T) {
	for _, test := range []struct {
		name   string
		stdout string
		text   string
		reason call.Reason
	}{
		{"one object", resultLine("A"), "A", ""},
		{"banner before", "Update available!\n" + resultLine("A"), "A", ""},
		{"array: the last result wins", "[" + init1 + "," + resultLine("A") + "," + resultLine("B") + "]", "B", ""},
		{"array without a result", "[" + init1 + "," + blockLine("A") + "]", "", call.ReasonBadOutput},
		{"array cut short", "[" + init1 + "," + resultLine("A"), "", call.ReasonBadOutput},
		{"CRLF and byte order mark", "\ufeff" + strings.ReplaceAll(resultLine("A"), ",", ",\r\n") + "\r\n", "A", ""},
		{"failure", failedLine("API Error: 401"), "", call.ReasonUnauthenticated},
		{"no type", `{"is_error":false,"result":"A","num_turns":1}`, "A", ""},
		{"no type, a failure", `{"is_error":true,"result":"API Error: 401"}`, "", call.ReasonUnauthenticated},
		{"no type, and nothing that says how it ended", `{"result":"A"}`, "", call.ReasonBadOutput},
		{"the turn limit with text", turnLimit, "half", ""},
		{"the turn limit without text", strings.Replace(turnLimit, "half", " ", 1), "", call.ReasonBadOutput},
		{"nothing", "", "", call.ReasonBadOutput},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputJSON, Stdout: test.stdout})
			require.Equal(t, test.text, text)
			if test.reason == "" {
				require.Nil(t, failure)
				return
			}
			require.NotNil(t, failure)
			require.Equal(t, test.reason, failure.Reason, "%v", failure)
		})
	}
}

// The usage is also known for a run that ends before its result, and an error of the service in the middle of a
// stream has its reason.
func TestTruncatedStream(t *testing.T) {
	delta := `{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":5,"output_tokens":7}}}` + "\n"
	rec := Recording{Output: clispec.OutputStream, Stdout: init1 + "\n" + delta + withID(strings.TrimSpace(delta)) + "\n", TimedOut: true}
	_, _, failure, _ := Replay(specs.Claude(), rec)
	require.Equal(t, call.Usage{InputTokens: 10, OutputTokens: 14}, failure.Usage)
	rec.Stdout += resultLine("A") + "\n"
	_, resp, failure, _ := Replay(specs.Claude(), rec)
	require.Nil(t, failure)
	require.NotEqual(t, 14, resp.Usage.OutputTokens, "the result has the sum")

	rec = Recording{Output: clispec.OutputStream, ExitCode: 1, Stdout: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n"}
	_, _, failure, events := Replay(specs.Claude(), rec)
	require.Equal(t, call.ReasonOverloaded, failure.Reason)
	require.Equal(t, call.EventError, events[0].Kind)
}

// A failure includes the warnings of its run.
func TestFailureIncludesWarnings(t *testing.T) {
	_, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputStream, ExitCode: 1, Stdout: init1 + "\n" + init1[:20] + "\n"})
	require.Equal(t, []string{"1 lines of output were broken JSON and were skipped"}, failure.Warnings)
}
