package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// readerOf returns the text of a reader that joins the text of a stream and discards it on a reset.
func readerOf(events []call.Event) (text string) {
	for _, e := range events {
		switch e.Kind {
		case call.EventDelta, call.EventText:
			text += e.Text
		case call.EventReset:
			text = ""
		}
	}
	return text
}

// missing returns the events that a reader of the given events still needs.
func missing(answer string, events []call.Event) []call.Event {
	var s Said
	for _, e := range events {
		s.See(e)
	}
	return s.Missing(answer)
}

// completed are the recorded streams whose answer is known only at the end: a remark that becomes the answer of
// a truncated run, and structured output.
var completed = map[string]bool{"claude/max-turns-remark": true, "claude/lean-schema": true}

// In each recording and transcript with an answer, the text of the stream since its last reset is the answer. A
// stream achieves that without further events, except those in completed.
func TestStreamedTextIsTheAnswer(t *testing.T) {
	seen := 0
	for _, path := range allRecorded(t) {
		name := nameOf(path)
		t.Run(name, func(t *testing.T) {
			rec := readRecording(t, path)
			text, _, failure, events := Replay(specOf(t, path), rec)
			if failure != nil {
				return
			}
			seen++
			owed := missing(text, events)
			require.Equal(t, text, readerOf(append(events, owed...)))
			// The document of qwen also contains the blocks of the answer.
			if rec.Output == clispec.OutputStream && !completed[name] || strings.HasPrefix(name, "qwen/json") {
				require.Empty(t, owed)
			} else {
				require.Len(t, owed, 1)
				require.Equal(t, call.EventText, owed[0].Kind)
			}
		})
	}
	require.Greater(t, seen, 40)
}

func TestMissing(t *testing.T) {
	delta := func(text string) call.Event { return call.Event{Kind: call.EventDelta, Text: text} }
	block := func(text string) call.Event { return call.Event{Kind: call.EventText, Text: text} }
	reset := call.Event{Kind: call.EventReset, Message: "the text so far is not the answer"}
	tool := call.Event{Kind: call.EventToolUse}
	for name, test := range map[string]struct {
		seen []call.Event
		want []call.Event
	}{
		"nothing":                 {nil, []call.Event{block("answer")}},
		"all":                     {[]call.Event{delta("ans"), block("wer")}, nil},
		"the beginning":           {[]call.Event{delta("ans")}, []call.Event{delta("wer")}},
		"something else":          {[]call.Event{delta("And")}, []call.Event{reset, block("answer")}},
		"more":                    {[]call.Event{delta("answers")}, []call.Event{reset, block("answer")}},
		"something else, dropped": {[]call.Event{delta("And"), {Kind: call.EventReset}, delta("answer")}, nil},
		"something else, dropped, and nothing since": {[]call.Event{delta("And"), {Kind: call.EventReset}}, []call.Event{block("answer")}},
		"a remark": {[]call.Event{delta("And"), tool, delta("answer")}, []call.Event{reset, block("answer")}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, missing("answer", test.seen)) })
	}
	t.Run("blocks", func(t *testing.T) {
		for _, s := range []*Said{{Answer: clispec.AnswerLastBlock}, {KeepCommentary: true}} {
			s.See(block("ans"))
			s.See(block("wer"))
			require.Empty(t, s.Missing("answer"))
		}
		s := &Said{KeepCommentary: true, Answer: clispec.AnswerLastBlock}
		s.See(block("And"))
		s.See(block("answer"))
		require.Empty(t, s.Missing("answer"), "the first block is a remark")
	})
	t.Run("remarks that are kept", func(t *testing.T) {
		for _, s := range []*Said{{KeepCommentary: true}, {KeepCommentary: true, Answer: clispec.AnswerLastBlock}} {
			for _, e := range []call.Event{block("And"), tool, block("answer")} {
				s.See(e)
			}
			require.Empty(t, s.Missing("answer"))
		}
	})
}
