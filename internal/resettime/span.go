package resettime

import (
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/pattern"
)

// readEpoch parses seconds or milliseconds since 1970.
func readEpoch(p phrase, _ time.Time) (time.Time, bool) {
	m := epochForm().FindString(p.rest)
	if m == "" || !severs(p.rest, len(m)) {
		return time.Time{}, false
	}
	n, err := strconv.ParseFloat(m, 64)
	return Epoch(n), err == nil && n > 0
}

var epochForm = pattern.Of(`^\d{10,13}(?:\.\d+)?`)

// Epoch converts seconds since 1970. It takes the number as milliseconds if the seconds would be thousands of years
// ahead. Other numbers give the zero time.
func Epoch(n float64) time.Time {
	const farSeconds = 1e11 // the year 5138
	switch {
	case !(n > 0 && n < 1e14):
		return time.Time{}
	case n >= farSeconds:
		return time.UnixMilli(int64(n))
	}
	return time.Unix(int64(n), 0)
}

// readSpan parses a duration from now, in units or as "1:02:03". It ignores a duration of zero, which services send
// when they do not know the time.
func readSpan(p phrase, now time.Time) (time.Time, bool) {
	if m := timerForm().FindStringSubmatch(p.rest); m != nil && delayLead().MatchString(p.lead) {
		return now.Add(span(number(m[1])*3600 + number(m[2])*60 + number(m[3]))), true
	}
	seconds, rest := 0.0, p.rest
	for {
		m := spanForm().FindStringSubmatch(rest)
		if m == nil || !severs(rest, len(m[0])) {
			break
		}
		seconds += number(m[1]) * unitSeconds(m[2])
		rest = rest[len(m[0]):]
	}
	return now.Add(span(seconds)), seconds > 0 && !noWait().MatchString(rest)
}

var (
	spanForm = pattern.Of(`(?i)^[\s,]*(?:and\s+)?(\d+(?:\.\d+)?|an?\b|one\b|half an?\b)[\s_]*` +
		`(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|months?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w)`)
	timerForm = pattern.Of(`^(\d{1,3}):(\d\d):(\d\d)\b`)
	delayLead = pattern.Of(`(?i)(?:in|after|for|delay|wait|within)[\s_:="']*$`)
	// noWait matches the text after a span that is not a wait: the length of a window, the size of a limit, or a past
	// time.
	noWait = pattern.Of(`(?i)^[\s-]*(?:(?:usage|rate|rolling|session|message|token)[\s-]+)?` +
		`(?:limits?|windows?|quotas?|caps?|plans?|tokens?|requests?|ago)\b`)
)

// unitSeconds returns the length of a unit in seconds. It looks only at the first letters of the unit.
func unitSeconds(unit string) float64 {
	unit = strings.ToLower(unit)
	switch {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		return 1e-3
	case strings.HasPrefix(unit, "mo"):
		return 30 * 86400
	}
	return map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 7 * 86400}[unit[0]]
}

// number parses digits, "half …", and words for one.
func number(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err == nil:
		return n
	case strings.HasPrefix(strings.ToLower(s), "half"):
		return 0.5
	}
	return 1
}

// span converts seconds to a duration, limited so that it cannot overflow.
func span(seconds float64) time.Duration {
	return time.Duration(min(seconds, 2*Longest.Seconds()) * float64(time.Second)).Round(time.Microsecond)
}

// readCount parses a bare number: seconds from now, unless the name before it contains another unit. Most numbers are
// not times, so the number must be the whole text, or follow a head.
func readCount(p phrase, now time.Time) (time.Time, bool) {
	m := countForm().FindStringSubmatch(p.rest)
	alone := m != nil && p.lead == "" && m[0] == p.rest
	if m == nil || !alone && (!countLead().MatchString(p.lead) || pointLead().MatchString(p.lead)) {
		return time.Time{}, false
	}
	unit := 1.0
	if u := leadUnit().FindString(p.lead); u != "" {
		unit = unitSeconds(u)
	}
	return now.Add(span(number(m[1]) * unit)), number(m[1]) > 0
}

var (
	countForm = pattern.Of(`^(\d{1,9}(?:\.\d+)?)(?:\s*$|\s*\n|["'\\,;})\]]|\.(?:\s|$))`)
	countLead = pattern.Of(`(?i)^(?:reset|wait)|` +
		`(?:in|after|delay|seconds|secs|milliseconds|millis|ms|minutes)[\s_:="'\\-]*$`)
	pointLead = pattern.Of(`(?i)(?:at|on|date|time|stamp)[\s_:="'\\-]*$`)
	leadUnit  = pattern.Of(`(?i)milliseconds|millis|ms|minutes`)
)
