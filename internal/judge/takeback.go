package judge

import (
	"strings"

	"github.com/clichain/clichain/call"
)

// TakeBack reports whether an event takes text back that was passed on, and what
// of it still stands; ask it before Add. The CLI begins a block anew after a cut,
// or sends a whole block that is not what its pieces were; text before a tool is a
// remark; and after its answer the CLI may begin another one.
func (t *Tally) TakeBack(e *call.Event) (stands string, ok bool) {
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventToolUse:
		if ok = t.text.Len() > 0; t.goesOn(e) {
			return "", ok
		}
	}
	switch e.Kind {
	case call.EventToolUse:
		return "", ok
	case call.EventText:
		if t.open && !strings.HasPrefix(e.Text, t.lastBlock()) {
			return t.dropOpen(), true
		}
	case call.EventReset:
		t.thinking = false
		if t.open {
			return t.dropOpen(), true
		}
	}
	return "", false
}

// goesOn begins another answer where an event comes after one, which is kept until
// the CLI has given the other.
func (t *Tally) goesOn(e *call.Event) bool {
	if !t.done || e.Text == "" && e.Kind != call.EventToolUse {
		return false
	}
	t.given, t.next, t.done = t.AnswerText(), true, false
	t.open, t.blocks, t.last = false, 0, 0
	t.text.Reset()
	return true
}

// dropOpen forgets the block that came in pieces only, and returns the text
// before it.
func (t *Tally) dropOpen() string {
	t.open = false
	t.text.Reset()
	t.text.WriteString(t.kept)
	t.last = t.keptLast
	return t.kept
}

// Remarks is the text before the last tool use.
func (t *Tally) Remarks() string { return t.before.String() }
