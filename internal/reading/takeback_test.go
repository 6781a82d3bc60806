package reading

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// A reset event discards text that the caller has received. Withheld text needs none, and remarks may stay.
func TestTakeBack(t *testing.T) {
	reset := func(why string) call.Event {
		return call.Event{Kind: call.EventReset, Backend: "claude", Message: why}
	}
	stands := call.Event{Kind: call.EventText, Backend: "claude", Text: "A"}
	const remark, restarted = "the text so far was a remark before the use of a tool", "the CLI restarted its answer"
	for _, test := range []struct {
		name   string
		answer clispec.AnswerMode
		keep   bool
		by     call.EventKind
		stands string
		want   []call.Event
	}{
		{"remark", clispec.AnswerAfterTools, false, call.EventToolUse, "", []call.Event{reset(remark)}},
		{"restart", clispec.AnswerAfterTools, false, call.EventReset, "", []call.Event{reset(restarted)}},
		{"restart of the last block", clispec.AnswerAfterTools, false, call.EventDelta, "A", []call.Event{reset(restarted), stands}},
		{"kept remark", clispec.AnswerAfterTools, true, call.EventToolUse, "", nil},
		{"restart with kept remarks", clispec.AnswerLastBlock, true, call.EventText, "A", []call.Event{reset(restarted), stands}},
		{"withheld remark", clispec.AnswerLastBlock, false, call.EventToolUse, "", nil},
		{"restart of a withheld block", clispec.AnswerLastBlock, false, call.EventDelta, "A", []call.Event{stands}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, got := readingOf(specs.Claude(), clispec.OutputStream)
			r.Answer, r.KeepCommentary = test.answer, test.keep
			r.takeBack(test.by, test.stands)
			r.showAll(r.remarks.End(true))
			require.Equal(t, test.want, *got)
		})
	}
}

// Only text of the answer is delivered in the sense of Delivered, until it is taken back.
func TestDelivered(t *testing.T) {
	for kind, want := range map[call.EventKind]bool{
		call.EventDelta: true, call.EventText: true, call.EventThinking: false, call.EventToolUse: false, call.EventStatus: false,
	} {
		for _, withhold := range []bool{false, true} {
			r, got := readingOf(specs.Claude(), clispec.OutputStream)
			r.Withhold = withhold
			require.False(t, r.Delivered())
			r.show(&call.Event{Kind: kind})
			require.Equal(t, want && !withhold, r.Delivered(), kind)
			require.Equal(t, withhold && isWords(kind), len(*got) == 0, kind)
			r.takeBack(call.EventReset, "")
			require.False(t, r.Delivered(), kind)
		}
	}
}
