package history

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// since is the value of --since: a date or a duration before now.
type since struct {
	date time.Time // zero: not set
	ago  time.Duration
}

const day = 24 * time.Hour

// parseSince parses a date such as 2006-01-02, in local time, or a duration such as 36h or 7d.
func parseSince(text string) (since, error) {
	if date, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return since{date: date}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			return since{ago: time.Duration(n) * day}, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return since{ago: d}, nil
	}
	return since{}, errors.New("write a duration such as 36h or 7d, or a date such as 2006-01-02")
}

// at returns the time, or zero if the flag is not set.
func (s since) at(now time.Time) time.Time {
	if s.ago > 0 {
		return now.Add(-s.ago)
	}
	return s.date
}
