// Package quotatext formats usage windows: their lengths, times, shares and rates.
package quotatext

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
)

// Day is the length of a day.
const Day = 24 * time.Hour

// units are the units of lengths, the longest first. A window without a number has the length of one unit.
var units = []struct {
	length    time.Duration
	one, many string
}{
	{7 * Day, "week", "weeks"}, {Day, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"},
}

// Length formats the length of a window, such as "5 hours" or "week". An unknown length has no text.
func Length(d time.Duration) string {
	for _, u := range units {
		switch n := d / u.length; {
		case n < 1 || d%u.length != 0:
		case n == 1:
			return u.one
		default:
			return fmt.Sprintf("%d %s", n, u.many)
		}
	}
	if d <= 0 {
		return ""
	}
	return console.Roughly(d)
}

// Time formats a time near now, in the zone of now. The day is left out if it is the same.
func Time(t, now time.Time) string {
	t = t.In(now.Location())
	switch apart := t.Sub(now).Abs(); {
	case t.YearDay() == now.YearDay() && apart < Day:
		return t.Format("15:04")
	case apart < 6*Day:
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// Percent formats a share. It rounds down, so that only a full window has 100 %.
func Percent(share float64) string { return fmt.Sprintf("%d %%", int(share*100+1e-9)) }

// Rate formats a share per hour, for a window of days per day.
func Rate(perHour float64, length time.Duration) string {
	rate, unit := perHour*100, "h"
	if length > 2*Day {
		rate, unit = rate*24, "day"
	}
	if rate < 10 {
		return fmt.Sprintf("%.1f %%/%s", rate, unit)
	}
	return fmt.Sprintf("%.0f %%/%s", rate, unit)
}

// Window describes a window whose use is known on one line, such as "63 % of 5 hours until 17:00".
func Window(w call.QuotaWindow, now time.Time) string {
	name := Length(w.Length)
	if name == "" {
		name = w.Name
	}
	text := Percent(*w.Used) + " of " + name
	if !w.ResetsAt.IsZero() {
		text += " until " + Time(w.ResetsAt, now)
	}
	return text
}
