package quota

import (
	"time"

	"github.com/clichain/clichain/call"
)

// shortest is the shortest time for which a rate means anything.
const shortest = time.Minute

// Rate returns the share of the window that was used per hour, on average from the start of the window to its report.
// It is unknown (ok is false) without Used, Length or ResetsAt, in the first minute of a window, and after its reset.
func Rate(w call.QuotaWindow, now time.Time) (perHour float64, ok bool) {
	w = At(w, now)
	if w.Used == nil || w.Length == 0 || w.ResetsAt.IsZero() {
		return 0, false
	}
	elapsed := w.Length - w.ResetsAt.Sub(w.ObservedAt)
	if elapsed < shortest {
		return 0, false
	}
	return *w.Used / elapsed.Hours(), true
}

// UsedUp returns the time at which the window will be used up at its [Rate], at the earliest now. It returns the zero
// time if the window resets first, or if the rate is unknown.
func UsedUp(w call.QuotaWindow, now time.Time) time.Time {
	perHour, ok := Rate(w, now)
	if !ok || perHour == 0 {
		return time.Time{}
	}
	w = At(w, now)
	hours := (1 - *w.Used) / perHour
	if hours >= w.ResetsAt.Sub(w.ObservedAt).Hours() {
		return time.Time{}
	}
	at := w.ObservedAt.Add(time.Duration(hours * float64(time.Hour)))
	if at.Before(now) {
		return now
	}
	return at
}

// PerHour returns the share of the plan that can be used per hour. It is the least of the windows' unused shares, each
// divided by the hours to its reset. A window that has not begun has all its length left. The result is unknown (known
// is false) if no window has both a known use and a known reset.
func PerHour(windows []call.QuotaWindow, now time.Time) (left float64, known bool) {
	for _, w := range windows {
		w = At(w, now)
		lasts := w.Length
		if !w.ResetsAt.IsZero() {
			lasts = w.ResetsAt.Sub(now)
		}
		if w.Used == nil || lasts == 0 {
			continue
		}
		rate := (1 - *w.Used) / max(lasts, shortest).Hours()
		if !known || rate < left {
			left, known = rate, true
		}
	}
	return left, known
}
