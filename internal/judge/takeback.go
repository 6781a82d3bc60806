package judge

import (
	"strings"

	"github.com/clichain/clichain/call"
)

// TakeBack reports whether an event takes back delivered text, and returns the part of the text that remains.
// Call it before Add. The CLI may restart a block after an interruption, or send a whole block that differs
// from its deltas. Text before a tool use is a remark. After its answer, the CLI may begin another one.
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

// goesOn begins another answer if an event follows a complete one. It keeps the complete answer until the CLI
// has finished the other.
func (t *Tally) goesOn(e *call.Event) bool {
	if !t.done || e.Text == "" && e.Kind != call.EventToolUse {
		return false
	}
	t.given, t.next, t.done = t.AnswerText(), true, false
	t.open, t.blocks, t.last = false, 0, 0
	t.text.Reset()
	return true
}

// dropOpen discards the block that arrived only in deltas, and returns the text before it.
func (t *Tally) dropOpen() string {
	t.open = false
	t.text.Reset()
	t.text.WriteString(t.kept)
	t.last = t.keptLast
	return t.kept
}

// Remarks returns the text before the last tool use.
func (t *Tally) Remarks() string { return t.before.String() }
