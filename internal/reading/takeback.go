package reading

import "github.com/clichain/clichain/call"

// takeBack tells the reader to drop the text so far, but for what stands of it.
// Held text is a remark by then. The caller holds mu.
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

// whyReset says why text is taken back, by the event that does it.
var whyReset = map[call.EventKind]string{
	call.EventToolUse: "the text so far was a remark before the use of a tool",
	call.EventText:    "the CLI began its answer anew",
	call.EventDelta:   "the CLI began its answer anew",
	call.EventReset:   "the CLI began its answer anew",
}

// show passes an event on to the caller of the run. The caller holds mu.
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

// isWords reports whether an event has words of the model, or takes them back.
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
