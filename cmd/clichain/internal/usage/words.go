package usage

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
)

const day = 24 * time.Hour

// units are the units of lengths, the longest first. A window without a number has the length of one unit.
var units = []struct {
	length    time.Duration
	one, many string
}{
	{7 * day, "week", "weeks"}, {day, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"},
}

// lengthText formats the length of a window, such as "5 hours" or "week". An unknown length has no text.
func lengthText(d time.Duration) string {
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

// timeText formats a time near now, in the zone of now. The day is left out if it is the same.
func timeText(t, now time.Time) string {
	t = t.In(now.Location())
	switch apart := t.Sub(now).Abs(); {
	case t.YearDay() == now.YearDay() && apart < day:
		return t.Format("15:04")
	case apart < 6*day:
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// percent formats a share. It rounds down, so that only a full window has 100 %.
func percent(share float64) string { return fmt.Sprintf("%d %%", int(share*100+1e-9)) }

// rateText formats a share per hour, for a window of days per day.
func rateText(perHour float64, length time.Duration) string {
	rate, unit := perHour*100, "h"
	if length > 2*day {
		rate, unit = rate*24, "day"
	}
	if rate < 10 {
		return fmt.Sprintf("%.1f %%/%s", rate, unit)
	}
	return fmt.Sprintf("%.0f %%/%s", rate, unit)
}
