package resettime

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // small containers and Windows have no time zone files

	"github.com/clichain/clichain/internal/pattern"
)

// moment is a point in time with the parts that the text contains. 0 means that a part is missing.
type moment struct {
	year, month, day int
	weekday          int  // 1 is Sunday
	ahead            int  // 1 is today
	clock            bool // the text contains a time of day
	hour, min        int
	sec              float64
	loc              *time.Location // nil is the location of now
}

const (
	monthNames = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b`
	dayNames = `(?:sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|` +
		`fri(?:day)?|sat(?:urday)?)\b`
)

// momentPart parses one part of a moment. take receives the groups of form, and returns false if the part contradicts
// earlier parts.
type momentPart struct {
	form func() *regexp.Regexp // compiled at its first use
	take func(*moment, []string) bool
}

// momentParts can appear in any order, each at most once. The moment ends at a part that take rejects.
var momentParts = []momentPart{
	part(`(\d{4})[-/](\d{1,2})[-/](\d{1,2})T?`, func(m *moment, s []string) bool { return m.date(s[0], s[1], s[2]) }),
	part(`(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})`, func(m *moment, s []string) bool {
		if whole(s[0]) > 12 { // the day comes first
			s[0], s[1] = s[1], s[0]
		}
		return m.date(s[2], s[0], s[1])
	}),
	part(`(\d{1,2})\.(\d{1,2})\.(\d{4})`, func(m *moment, s []string) bool { return m.date(s[2], s[1], s[0]) }),
	part(`(`+monthNames+`)\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?`,
		func(m *moment, s []string) bool { return m.date(s[2], monthNumber(s[0]), s[1]) }),
	part(`(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+(`+monthNames+`)\.?(?:,?[\s-]+(\d{4})\b)?`,
		func(m *moment, s []string) bool { return m.date(s[2], monthNumber(s[1]), s[0]) }),
	part(`(`+dayNames+`)\.?`, (*moment).takeWeekday),
	part(`(today|tonight|tomorrow)\b`, (*moment).takeDay),
	part(`(noon|midnight)\b`, func(m *moment, s []string) bool {
		return m.time(map[string]string{"noon": "12"}[strings.ToLower(s[0])], "0", "", "")
	}),
	part(`(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?:\s*([ap])\.?m\b\.?)?`,
		func(m *moment, s []string) bool { return m.time(s[0], s[1], s[2], s[3]) }),
	part(`(\d{1,2})\s*([ap])\.?m\b\.?`, func(m *moment, s []string) bool { return m.time(s[0], "0", "", s[1]) }),
	part(zoneForm, (*moment).takeZone),
}

func part(form string, take func(*moment, []string) bool) momentPart {
	return momentPart{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:` + form + `)`) }), take}
}

var between = pattern.Of(`^(?i:[\s,·∙•|(\["'\\]+|(?:at|on|the|by|around|about|daily)\b)*`)

func readMoment(p phrase, now time.Time) (time.Time, bool) {
	var m moment
	rest := p.rest
	for next, ok := m.take(rest); ok; next, ok = m.take(rest) {
		rest = next[len(between().FindString(next)):]
	}
	return m.resolve(now), !m.empty()
}

func (m *moment) empty() bool { return m.month == 0 && m.weekday == 0 && m.ahead == 0 && !m.clock }

func (m *moment) take(rest string) (string, bool) {
	for _, p := range momentParts {
		if s := p.form().FindStringSubmatch(rest); s != nil && severs(rest, len(s[0])) && p.take(m, s[1:]) {
			return rest[len(s[0]):], true
		}
	}
	return "", false
}

func (m *moment) date(year, month, day string) bool {
	if m.month > 0 || whole(month) == 0 || whole(day) == 0 {
		return false
	}
	m.year, m.month, m.day = whole(year), whole(month), whole(day)
	if len(year) == 2 {
		m.year += 2000
	}
	return true
}

func (m *moment) takeWeekday(s []string) bool {
	first := m.weekday == 0
	m.weekday = 1 + strings.Index("sunmontuewedthufrisat", strings.ToLower(s[0][:3]))/3
	return first
}

func (m *moment) takeDay(s []string) bool {
	first := m.ahead == 0
	m.ahead = 1
	switch strings.ToLower(s[0]) {
	case "tomorrow":
		m.ahead = 2
	case "tonight":
		if !m.clock {
			m.hour = 24
		}
	}
	return first
}

// time sets the time of day. half is "a", "p" or empty.
func (m *moment) time(hour, minute, second, half string) bool {
	h := whole(hour)
	if m.clock || h > 24 || whole(minute) > 59 {
		return false
	}
	switch {
	case strings.EqualFold(half, "a") && h == 12:
		h = 0
	case strings.EqualFold(half, "p") && h < 12:
		h += 12
	}
	m.clock, m.hour, m.min = true, h, whole(minute)
	m.sec, _ = strconv.ParseFloat(second, 64)
	return true
}

// resolve returns the point in time. A past time of day means tomorrow, a past day of the week means next week, and a
// date without a year means the nearest one. The current minute does not count as past, because most times have no
// seconds.
func (m *moment) resolve(now time.Time) time.Time {
	here := now
	if m.loc != nil {
		here = now.In(m.loc)
	}
	year, month, day := here.Date()
	on := func(y int, mo time.Month, d int) time.Time {
		return time.Date(y, mo, d, m.hour, m.min, 0, int(math.Round(m.sec*1e9)), here.Location())
	}
	step := 1
	switch {
	case m.year > 0:
		return on(m.year, time.Month(m.month), m.day)
	case m.month > 0:
		in := func(year int) time.Time { return on(year, time.Month(m.month), m.day) }
		return slices.MinFunc([]time.Time{in(year - 1), in(year), in(year + 1)}, func(a, b time.Time) int {
			return cmp.Compare(a.Sub(now).Abs(), b.Sub(now).Abs())
		})
	case m.ahead > 0:
		return on(year, month, day+m.ahead-1)
	case m.weekday > 0:
		day += (m.weekday - 1 - int(here.Weekday()) + 7) % 7
		step = 7
	}
	if t := on(year, month, day); !t.Before(now.Truncate(time.Minute)) {
		return t
	}
	return on(year, month, day+step)
}

func monthNumber(name string) string {
	return strconv.Itoa(1 + strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name[:3]))/3)
}

// whole parses digits. Empty text is 0.
func whole(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// zoneForm matches a name such as Asia/Shanghai, an offset with or without UTC or GMT before it, or an abbreviation.
const zoneForm = `([a-z_]+(?:/[a-z0-9_+-]+){1,2})|((?:utc|gmt)?\s*[+-]\d{1,2}(?::?\d\d)?)|([a-z]{1,4})`

// takeZone sets the time zone of a date or a time of day. An unknown name keeps the zone of now.
func (m *moment) takeZone(s []string) bool {
	if m.loc != nil || m.empty() {
		return false
	}
	switch {
	case s[0] != "":
		m.loc, _ = time.LoadLocation(s[0])
		return true
	case s[1] != "":
		m.loc = offsetZone(s[1])
	default:
		m.loc = abbreviatedZone(strings.ToUpper(s[2]))
	}
	return m.loc != nil
}

var offsetForm = pattern.Of(`([+-])(\d{1,2}?):?(\d\d)?$`)

// offsetZone parses "+8", "UTC-05:30" or "+0530". It returns nil for an offset of more than 14 hours, which no zone
// has.
func offsetZone(s string) *time.Location {
	m := offsetForm().FindStringSubmatch(s)
	seconds := whole(m[2])*3600 + whole(m[3])*60
	if seconds > 14*3600 {
		return nil
	}
	if m[1] == "-" {
		seconds = -seconds
	}
	return time.FixedZone("", seconds)
}

func abbreviatedZone(name string) *time.Location {
	if zone, ok := seasonal[name]; ok {
		loc, _ := time.LoadLocation(zone) // tzdata is embedded
		return loc
	}
	if hours, ok := zoneHours[name]; ok {
		return time.FixedZone(name, int(hours*3600))
	}
	return nil
}

// seasonal maps the abbreviations that mean both standard and summer time to zones.
var seasonal = map[string]string{
	"PT": "America/Los_Angeles", "MT": "America/Denver", "CT": "America/Chicago", "ET": "America/New_York",
}

// zoneHours maps abbreviations to hours east of UTC. For an ambiguous one it has the American meaning, because the
// services are American, otherwise the European one.
var zoneHours = map[string]float64{
	"Z": 0, "UTC": 0, "GMT": 0,
	"PST": -8, "PDT": -7, "MST": -7, "MDT": -6,
	"CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "AKST": -9, "AKDT": -8, "HST": -10, "BRT": -3,
	"WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
	"IST": 5.5, "SGT": 8, "HKT": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}
