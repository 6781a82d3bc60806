package resettime

import (
	"regexp"
	"strings"
	"time"
)

// zoneForm is a name such as Asia/Shanghai, an offset with or without UTC or GMT in front, or an abbreviation.
const zoneForm = `([a-z_]+(?:/[a-z0-9_+-]+){1,2})|((?:utc|gmt)?\s*[+-]\d{1,2}(?::?\d\d)?)|([a-z]{1,4})`

// takeZone sets the zone of a date or a time of day. A name that the system does not know leaves it at now's.
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

var offsetForm = regexp.MustCompile(`([+-])(\d{1,2}?):?(\d\d)?$`)

// offsetZone reads "+8", "UTC-05:30" or "+0530". It returns nil for an offset of over 14 hours, which no zone has.
func offsetZone(s string) *time.Location {
	m := offsetForm.FindStringSubmatch(s)
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
	if loc, err := time.LoadLocation(seasonal[name]); err == nil && seasonal[name] != "" {
		return loc
	}
	if hours, ok := zoneHours[name]; ok {
		return time.FixedZone(name, int(hours*3600))
	}
	return nil
}

// seasonal holds the abbreviations that mean both standard and summer time.
var seasonal = map[string]string{
	"PT": "America/Los_Angeles", "MT": "America/Denver", "CT": "America/Chicago", "ET": "America/New_York",
}

// zoneHours gives the abbreviations in hours east of UTC. Of several meanings it
// has the American one, as the services are there, else the European one.
var zoneHours = map[string]float64{
	"Z": 0, "UTC": 0, "GMT": 0,
	"PST": -8, "PDT": -7, "PT": -8, "MST": -7, "MDT": -6, "MT": -7,
	"CST": -6, "CDT": -5, "CT": -6, "EST": -5, "EDT": -4, "ET": -5, "AKST": -9, "AKDT": -8, "HST": -10, "BRT": -3,
	"WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
	"IST": 5.5, "SGT": 8, "HKT": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}
