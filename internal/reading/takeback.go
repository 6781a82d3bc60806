package reading

import "github.com/clichain/clichain/call"

// takeBack tells the reader to discard the text so far, except the part in stands. Withheld text is a remark at
// this point. The caller holds mu.
func (r *Reading) takeBack(by call.EventKind, stands string) {
	switch {
	case r.holdsBack():
		r.showAll(r.remarks.End(false))
		if stands != "" {
			r.remarks.Add(call.Event{Kind: call.EventText, Backend: r.Name, Text: stands})
		}
		return
	case r.KeepCommentary && by == call.EventToolUse:
		return
	case r.KeepCommentary:
		stands = r.tally.Remarks() + stands
	}
	r.show(&call.Event{Kind: call.EventReset, Backend: r.Name, Message: whyReset[by]})
	r.shown = false
	if stands != "" {
		r.show(&call.Event{Kind: call.EventText, Backend: r.Name, Text: stands})
	}
}

// whyReset maps an event kind to the reason why that event takes text back.
var whyReset = map[call.EventKind]string{
	call.EventToolUse: "the text so far was a remark before the use of a tool",
	call.EventText:    "the CLI restarted its answer",
	call.EventDelta:   "the CLI restarted its answer",
	call.EventReset:   "the CLI restarted its answer",
}

// show delivers an event to the caller of the run. The caller holds mu.
func (r *Reading) show(e *call.Event) {
	if r.Withhold && isWords(e.Kind) {
		return
	}
	r.shown = r.shown || e.Kind == call.EventDelta || e.Kind == call.EventText
	passed := *e
	if r.Withhold {
		passed.Text = r.Secrets.CleanDisguised(e.Text)
	}
	r.Emit(passed)
}

// isWords reports whether an event contains model text or takes it back.
func isWords(kind call.EventKind) bool {
	switch kind {
	case call.EventDelta, call.EventText, call.EventThinking, call.EventReset:
		return true
	}
	return false
}

func (r *Reading) showAll(events []call.Event) {
	for i := range events {
		r.show(&events[i])
	}
}
