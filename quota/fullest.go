package quota

import (
	"time"

	"github.com/clichain/clichain/call"
)

// Fullest returns the state of the window of which the most is used. Of equal ones, it is the one that resets last. ok
// is false if no use is known.
func Fullest(windows []call.QuotaWindow, now time.Time) (fullest call.QuotaWindow, ok bool) {
	for _, w := range windows {
		w = At(w, now)
		if w.Used == nil {
			continue
		}
		if !ok || *w.Used > *fullest.Used || *w.Used == *fullest.Used && w.ResetsAt.After(fullest.ResetsAt) {
			fullest, ok = w, true
		}
	}
	return fullest, ok
}
