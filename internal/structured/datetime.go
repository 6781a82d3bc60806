package structured

import (
	"strconv"
	"strings"
	"time"
)

// isDateTime reports whether a text is a date and time of RFC 3339, including leap seconds.
func isDateTime(text string) bool {
	if len(text) < len("2006-01-02T15:04:05Z") || text[10] != 'T' && text[10] != 't' {
		return false
	}
	if _, err := time.Parse(time.DateOnly, text[:10]); err != nil {
		return false
	}
	zone := text[19:]
	h, m, s, ok := clockOf(text[11:19])
	if fraction, found := strings.CutPrefix(zone, "."); found {
		zone = strings.TrimLeft(fraction, "0123456789")
		ok = ok && len(zone) < len(fraction)
	}
	if zone != "z" && zone != "Z" {
		if len(zone) != len("+07:00") || zone[0] != '+' && zone[0] != '-' {
			return false
		}
		zh, zm, _, valid := clockOf(zone[1:] + ":00")
		ahead := zh*60 + zm
		if zone[0] == '+' {
			ahead = -ahead
		}
		minutes := h*60 + m + ahead
		if minutes < 0 {
			minutes += 24 * 60
		}
		h, m, ok = minutes/60, minutes%60, ok && valid
	}
	return ok && (s < 60 || h == 23 && m == 59)
}

// clockOf parses hh:mm:ss. Like the full checker, it accepts a sign in place of a digit.
func clockOf(text string) (h, m, s int, ok bool) {
	if text[2] != ':' || text[5] != ':' {
		return 0, 0, 0, false
	}
	h, m, s = twoDigits(text[:2]), twoDigits(text[3:5]), twoDigits(text[6:])
	return h, m, s, h >= 0 && h <= 23 && m >= 0 && m <= 59 && s >= 0 && s <= 60
}

// twoDigits parses a number of two digits. The result is negative for other text.
func twoDigits(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
