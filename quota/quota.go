// Package quota has the rules for usage windows of plans. It merges reports, computes the state of a window after its
// last report and the rate of use, and decides about the share that a chain leaves to other users. It does no I/O.
package quota

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/resettime"
)

// Longest is the maximum length of a window. Plans have windows of at most a month, so a later reset is a mistake.
const Longest = 32 * 24 * time.Hour

// At returns the window as it is known at a later time. Until its reset, Used is a lower bound, because other programs
// may have used the account since ObservedAt. After its reset, the window is empty: Used is 0, ResetsAt is zero, and
// ObservedAt is the time of the reset. A window without ResetsAt ends at ObservedAt + Length. If Length is unknown too,
// Used is unknown after [Longest]. At removes the values that [Clean] removes.
func At(w call.QuotaWindow, now time.Time) call.QuotaWindow {
	w = Clean(w, now)
	end := End(w)
	switch {
	case now.Before(end) || notBegun(w):
		return w
	case w.ResetsAt.IsZero() && (w.Length == 0 || w.ObservedAt.IsZero()):
		w.Used = nil
		return w
	case end.After(w.ObservedAt):
		w.ObservedAt = end
	}
	w.Used, w.ResetsAt = new(float64), time.Time{}
	return w
}

// Clean returns a copy of a window without values that cannot be true. A share that is negative or no number, a
// length above [Longest] and a reset that is further from its report become unknown. A share above 1 becomes 1, and an
// ObservedAt in the future becomes now. The times are in UTC.
func Clean(w call.QuotaWindow, now time.Time) call.QuotaWindow {
	if w.Used != nil && *w.Used >= 0 && !math.IsInf(*w.Used, 0) {
		w.Used = new(min(*w.Used, 1))
	} else {
		w.Used = nil
	}
	if w.Length < 0 || w.Length > Longest {
		w.Length = 0
	}
	if w.ObservedAt.After(now) {
		w.ObservedAt = now
	}
	if w.ResetsAt.After(now.Add(Longest)) || w.ResetsAt.Before(w.ObservedAt.Add(-Longest)) {
		w.ResetsAt = time.Time{}
	}
	w.ResetsAt, w.ObservedAt = resettime.Wall(w.ResetsAt), resettime.Wall(w.ObservedAt)
	return w
}

// notBegun reports whether a window is empty until its next use, so that it has no reset yet.
func notBegun(w call.QuotaWindow) bool { return w.Used != nil && *w.Used == 0 && w.ResetsAt.IsZero() }

// End returns the time after which the report says nothing about the use of the window: its reset, else the time that
// follows from its length. A window without a length ends [Longest] after its report.
func End(w call.QuotaWindow) time.Time {
	switch {
	case !w.ResetsAt.IsZero():
		return w.ResetsAt
	case w.Length > 0:
		return w.ObservedAt.Add(w.Length)
	}
	return w.ObservedAt.Add(Longest)
}

// resetJitter is the possible difference between two reports of one reset. Some services report the remaining seconds,
// and some round.
const resetJitter = 10 * time.Minute

// Merge returns the windows of both lists, one for each name. The later report of a window is valid, also if it reports
// less use. Merge takes its missing fields from the earlier report if both are about the same period of the window.
// Used then keeps its ObservedAt. Of two reports of the same time, the one with more use is valid. The result is sorted
// by length, unknown ones last, and then by name. Merge does not change its arguments.
func Merge(old, new []call.QuotaWindow) []call.QuotaWindow {
	byName := make(map[string]call.QuotaWindow, len(old)+len(new))
	for _, w := range slices.Concat(old, new) {
		if known, ok := byName[w.Name]; ok {
			w = merge(known, w)
		}
		byName[w.Name] = w
	}
	merged := make([]call.QuotaWindow, 0, len(byName))
	for _, w := range byName {
		merged = append(merged, w)
	}
	slices.SortFunc(merged, func(a, b call.QuotaWindow) int {
		return cmp.Or(compareLengths(a.Length, b.Length), strings.Compare(a.Name, b.Name))
	})
	return merged
}

func compareLengths(a, b time.Duration) int {
	if (a == 0) != (b == 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// merge merges two reports of the window with one name.
func merge(a, b call.QuotaWindow) call.QuotaWindow {
	earlier, later := a, b
	if cmp.Or(a.ObservedAt.Compare(b.ObservedAt), compareUsed(a.Used, b.Used), a.ResetsAt.Compare(b.ResetsAt)) > 0 {
		earlier, later = b, a
	}
	later.Length = cmp.Or(later.Length, earlier.Length)
	earlier.Length = later.Length
	if !later.ObservedAt.Before(End(earlier)) {
		return later // the earlier report is about a period that had ended
	}
	if !later.ResetsAt.IsZero() && !earlier.ResetsAt.IsZero() {
		if later.ResetsAt.Sub(earlier.ResetsAt).Abs() > resetJitter {
			return later
		}
	}
	if later.ResetsAt.IsZero() && !notBegun(later) {
		later.ResetsAt = earlier.ResetsAt
	}
	if later.Used == nil && earlier.Used != nil {
		later.Used, later.ObservedAt = earlier.Used, earlier.ObservedAt
	}
	return later
}

func compareUsed(a, b *float64) int {
	unknown := -1.0
	return cmp.Compare(*cmp.Or(a, &unknown), *cmp.Or(b, &unknown))
}
