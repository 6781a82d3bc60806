package judge

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// WithoutCommentary returns the events that a reader receives for the events of a run.
func WithoutCommentary(events []call.Event, answered bool) (seen []call.Event) {
	var c Commentary
	for _, e := range events {
		seen = append(seen, c.Add(e)...)
	}
	return append(seen, c.End(answered)...)
}

// eventsOf creates events from "kind:text" words.
func eventsOf(script string) (events []call.Event) {
	for word := range strings.FieldsSeq(script) {
		kind, text, _ := strings.Cut(word, ":")
		kind, failed := strings.CutSuffix(kind, "!")
		events = append(events, call.Event{Kind: call.EventKind(kind), Text: text, Failed: failed})
	}
	return events
}

func TestCommentaryBecomesThinking(t *testing.T) {
	for _, test := range []struct {
		name, script string
		answered     bool
		want         string
	}{
		{"nothing", "", true, ""},
		{"an answer", "session text:A result", true, "session text:A result"},
		{"pieces of an answer", "delta:a delta:b result", true, "delta:a delta:b result"},
		{"text before a tool", "text:A tool_use tool_result text:B result", true, "thinking:A tool_use tool_result text:B result"},
		{"pieces before a tool", "delta:a delta:b tool_use delta:c result", true, "thinking:a thinking:b tool_use delta:c result"},
		{"several tools", "text:A tool_use text:B tool_use text:C result", true, "thinking:A tool_use thinking:B tool_use text:C result"},
		{"a block before the last", "text:A text:B result", true, "thinking:A text:B result"},
		{"what overtakes", "text:A status warning usage raw thinking:t tool_result retry limit error tool_use", true, "status warning usage raw thinking:t tool_result retry limit error thinking:A tool_use"},
		{"tools only", "tool_use tool_result result", true, "tool_use tool_result result"},
		{"no last word, and no fault", "text:A status", true, "status text:A"},
		{"no last word", "text:A status", false, "status thinking:A"},
		{"a failed result", "text:A result!", false, "result! thinking:A"},
		{"a result, then more", "text:A result text:B result", true, "text:A result text:B result"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := eventsOf(test.want)
			require.Equal(t, want, WithoutCommentary(eventsOf(test.script), test.answered))
		})
	}
}

// No text is lost, all other events keep their order, and the text of the stream equals the text of the
// response.
func TestCommentaryKeepsTheAnswer(t *testing.T) {
	kinds := []string{"delta", "text", "tool_use", "tool_result", "status", "thinking", "warning", "raw", "usage"}
	text := func(events []call.Event, which ...call.EventKind) string {
		var b strings.Builder
		for _, e := range events {
			for _, kind := range which {
				if e.Kind == kind {
					b.WriteString(e.Text + ";")
				}
			}
		}
		return b.String()
	}
	others := func(events []call.Event) (out []call.Event) {
		for _, e := range events {
			if e.Kind != call.EventDelta && e.Kind != call.EventText && e.Kind != call.EventThinking {
				out = append(out, e)
			}
		}
		return out
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		script, answer := "", ""
		for i := range r.IntN(30) {
			kind := kinds[r.IntN(len(kinds))]
			script += " " + kind + ":" + strconv.Itoa(i)
			switch kind {
			case "text":
				answer = strconv.Itoa(i) + ";"
			case "delta":
				answer += strconv.Itoa(i) + ";"
			case "tool_use":
				answer = ""
			}
		}
		events := eventsOf(script + " result")
		got := WithoutCommentary(events, true)
		require.Len(t, got, len(events), script)
		require.Equal(t, others(events), others(got), script)
		require.Equal(t, answer, text(got, call.EventDelta, call.EventText), script)
	}
}

// The buffer for the text grows by doubling, not for each piece.
func TestLongAnswerIsRarelyCopied(t *testing.T) {
	const size, piece = 8 << 20, 128
	var tally Tally
	delta := SignOf(call.Event{Kind: call.EventDelta, Text: strings.Repeat("x", piece)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range size / piece {
		e := delta
		tally.Add(&e)
	}
	runtime.ReadMemStats(&after)
	require.Len(t, tally.AnswerText(), size)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size*9/2))
}
