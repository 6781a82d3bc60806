package judge

import (
	"strings"

	"github.com/clichain/clichain/call"
)

// TakeBack reports whether an event takes text back that was passed on, and what
// of it still stands; ask it before Add. The CLI begins a block anew after a cut,
// or sends a whole block that is not what its pieces were; and text before a tool
// is a remark.
func (t *Tally) TakeBack(e *call.Event) (stands string, ok bool) {
	switch e.Kind {
	case call.EventToolUse:
		return "", t.text.Len() > 0
	case call.EventText:
		if t.pending.Len() > 0 && !strings.HasPrefix(e.Text, t.pending.String()) {
			return t.dropPending(), true
		}
	case call.EventReset:
		t.thinking = false
		if t.pending.Len() > 0 {
			return t.dropPending(), true
		}
	}
	return "", false
}

// dropPending forgets the block that came in pieces only, and returns the text
// before it.
func (t *Tally) dropPending() string {
	t.pending.Reset()
	t.text.Reset()
	t.text.WriteString(t.kept)
	t.last = t.keptLast
	return t.kept
}

// Remarks is the text before the last tool use.
func (t *Tally) Remarks() string { return t.before.String() }
