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
