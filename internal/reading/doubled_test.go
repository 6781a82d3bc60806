package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// claude continues after its result if a sub-agent reports, and gives another answer. The text is that of the
// last result, also for a reader of the stream.
func TestAnswerAfterResult(t *testing.T) {
	delta := func(text string) string {
		return `{"type":"stream_event","event":{"delta":{"type":"text_delta","text":` + quoted(text) + `}}}`
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"another answer", []string{blockLine("A"), resultLine("A"), init1, blockLine("B"), resultLine("B")}, "B"},
		{"the same answer", []string{blockLine("A"), resultLine("A"), init1, blockLine("A"), resultLine("A")}, "A"},
		{"in pieces", []string{delta("A"), blockLine("A"), resultLine("A"), init1, delta("B1"), delta("B2"), blockLine("B1B2"), resultLine("B1B2")}, "B1B2"},
		{"several blocks", []string{blockLine("A"), resultLine("A"), blockLine("B"), blockLine("C"), resultLine("C")}, "B\n\nC"},
		{"a third one", []string{blockLine("A"), resultLine("A"), blockLine("B"), resultLine("B"), blockLine("C"), resultLine("C")}, "C"},
		{"after a tool use", []string{blockLine("A"), resultLine("A"), blockLine("Let me look."), toolUse, blockLine("B"), resultLine("B")}, "B"},
		{"without an end", []string{blockLine("A"), blockLine("B"), resultLine("B"), init1, delta("C")}, "A\n\nB"},
		{"without an end, after a tool", []string{blockLine("A"), blockLine("B"), resultLine("B"), blockLine("C"), toolUse, delta("D")}, "A\n\nB"},
		{"with a failure", []string{blockLine("A"), resultLine("A"), blockLine("B"), failedLine("API Error: 500")}, "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON} {
				text, _, failure, events := Replay(specs.Claude(), Recording{Output: output, Stdout: init1 + "\n" + strings.Join(test.lines, "\n") + "\n"})
				require.Nil(t, failure)
				require.Equal(t, test.want, text, output)
				require.Equal(t, test.want, readerOf(append(events, missing(text, events)...)), output)
			}
		})
	}
}

// doubled is the number of recordings that give another answer if each line of stdout is repeated. Their text
// comes only in deltas without IDs, so a repeated delta cannot be distinguished from a delta with the same
// text.
var doubled = map[string]int{"gemini": 13}

// A stream in which each line is repeated gives the same answer and usage.
func TestRepeatedLines(t *testing.T) {
	wrong, seen := map[string]int{}, 0
	for _, path := range allRecorded(t) {
		rec, spec := readRecording(t, path), specOf(t, path)
		text, resp, failure, _ := Replay(spec, rec)
		if failure != nil || rec.Output != clispec.OutputStream {
			continue
		}
		seen++
		var twice strings.Builder
		for line := range strings.Lines(rec.Stdout) {
			twice.WriteString(line + line)
		}
		rec.Stdout = twice.String()
		again, respAgain, failure, events := Replay(spec, rec)
		require.Nil(t, failure, path)
		require.Equal(t, again, readerOf(append(events, missing(again, events)...)), path)
		if again != text {
			wrong[spec.Name]++
			continue
		}
		require.Equal(t, resp.Usage, respAgain.Usage, path)
	}
	t.Logf("of %d streams, these give another answer: %v", seen, wrong)
	require.Equal(t, doubled, wrong)
}

// A delta with the ID of an earlier one is a repetition; a delta with another ID is new.
func TestEventIDs(t *testing.T) {
	piece := func(id, text string) string {
		return `{"type":"assistant.message_delta","data":{"deltaContent":"` + text + `"},"id":"` + id + `"}` + "\n"
	}
	thought := func(id string) string {
		return `{"type":"assistant.reasoning_delta","data":{"deltaContent":"hm"},"id":"` + id + `"}` + "\n"
	}
	const end = `{"type":"result","sessionId":"s","exitCode":0}` + "\n"
	for _, test := range []struct{ name, lines, want string }{
		{"the same piece, twice meant", piece("1", "ha") + piece("2", "ha"), "haha"},
		{"each line twice", piece("1", "ha") + piece("1", "ha") + piece("2", "ha") + piece("2", "ha"), "haha"},
		{"lines that come again later", piece("1", "a") + thought("2") + piece("3", "b") + piece("1", "a") + thought("2") + piece("3", "b"), "ab"},
		{"no ids", piece("", "ha") + piece("", "ha") + strings.ReplaceAll(piece("", "ha"), `,"id":""`, ""), "hahaha"},
	} {
		text, _, failure, events := Replay(specs.Copilot(), Recording{Output: clispec.OutputStream, Stdout: test.lines + end})
		require.Nil(t, failure, test.name)
		require.Equal(t, test.want, text, test.name)
		thoughts := 0
		for _, e := range events {
			if e.Kind == call.EventThinking {
				thoughts++
			}
		}
		require.Equal(t, strings.Contains(test.lines, "hm"), thoughts == 1, test.name)
	}
}

// Two equal deltas of an answer both count.
func TestEqualDeltasCount(t *testing.T) {
	const piece = `{"type":"message","timestamp":"2026-11-21T00:18:36.538Z","role":"assistant","content":"ha","delta":true}` + "\n"
	text, _, failure, _ := Replay(specs.Gemini(), Recording{Output: clispec.OutputStream, Stdout: `{"type":"init","session_id":"s"}` + "\n" + piece + piece + `{"type":"result","status":"success"}` + "\n"})
	require.Nil(t, failure)
	require.Equal(t, "haha", text)
}
