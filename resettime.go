package clichain

import (
	"strconv"
	"strings"
	"time"
)

// resetTime reads when a limit ends from a backend's words: an epoch in
// seconds or milliseconds, or a duration such as "5h12m3s". The zero time
// means that it cannot be told.
func resetTime(words string, now time.Time) time.Time {
	words = strings.TrimSpace(words)
	if n, err := strconv.ParseFloat(words, 64); err == nil {
		return epoch(n)
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(words, " ", "")); err == nil && d > 0 {
		return now.Add(d)
	}
	return time.Time{}
}
