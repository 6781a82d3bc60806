package quota

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// week is the same hours on some days of the week.
type week struct {
	days     [7]bool
	from, to int // in minutes after midnight; to is on the next day if it is above a day
}

const day = 24 * 60 // minutes

var always = week{[7]bool{true, true, true, true, true, true, true}, 0, day}

// parseWeek returns the problem of the first invalid field.
func parseWeek(days, hours string) (w week, problem string) {
	w = always
	if days != "" {
		w.days = [7]bool{}
		for part := range strings.SplitSeq(days, ",") {
			if !w.add(part) {
				return w, fmt.Sprintf(`days is %q: use days such as "sat,sun" or "mon-fri"`, days)
			}
		}
	}
	if hours != "" {
		from, to, _ := strings.Cut(hours, "-")
		start, ok := minutes(from)
		end, ok2 := minutes(to)
		if !ok || !ok2 || start == end || start == day {
			return w, fmt.Sprintf(`hours is %q: use a start and an end such as "18:00-24:00"`, hours)
		}
		if end < start {
			end += day
		}
		w.from, w.to = start, end
	}
	return w, ""
}

// add adds a day or a range of days.
func (w *week) add(text string) (ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	first, ok := weekday(from)
	last := first
	if ok && isRange {
		last, ok = weekday(to)
	}
	for d := first; ok; d = (d + 1) % 7 {
		w.days[d] = true
		if d == last {
			break
		}
	}
	return ok
}

// weekday parses the name of a day or its first three letters.
func weekday(text string) (time.Weekday, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for d := range time.Weekday(7) {
		name := strings.ToLower(d.String())
		if text == name || text == name[:3] {
			return d, true
		}
	}
	return 0, false
}

// minutes parses a time of day from 00:00 to 24:00.
func minutes(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return day, true
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil
}

// timed is a share with the times at which it applies.
type timed struct {
	share    float64
	week     week
	location *time.Location
}

// includes reports whether the share applies at a time.
func (t timed) includes(at time.Time) bool {
	if t.week == always {
		return true
	}
	return slices.ContainsFunc(t.periods(at, -1, 1), func(p period) bool { return !at.Before(p[0]) && at.Before(p[1]) })
}

// changes returns the times in the next Longest at which the share begins or ceases to apply.
func (t timed) changes(now time.Time) (times []time.Time) {
	if t.week == always {
		return nil
	}
	for _, p := range t.periods(now, -1, int(Longest/(24*time.Hour))+1) {
		times = append(times, p[0], p[1])
	}
	return times
}

// period is a start and an end.
type period [2]time.Time

// periods returns the periods that start on the days around a time, from first to last.
func (t timed) periods(around time.Time, first, last int) (list []period) {
	year, month, today := around.In(t.location).Date()
	for d := today + first; d <= today+last; d++ {
		midnight := time.Date(year, month, d, 0, 0, 0, 0, time.UTC) // a date, without its time zone
		if !t.week.days[midnight.Weekday()] {
			continue
		}
		list = append(list, period{t.clock(midnight, t.week.from), t.clock(midnight, t.week.to)})
	}
	return list
}

// clock returns the time at which a local clock shows the minute of the day. If the clock is set forward over that
// minute, [time.Date] may return a time that is too early by the size of the step.
func (t timed) clock(midnight time.Time, minute int) time.Time {
	wall := midnight.Add(time.Duration(minute) * time.Minute)
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, t.location)
	_, offset := at.Zone()
	return at.Add(max(wall.Sub(at)-time.Duration(offset)*time.Second, 0))
}
