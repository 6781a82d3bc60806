package resettime

import (
	"time"
)

// Epoch reads a point in time in seconds, or in milliseconds when it would
// otherwise lie thousands of years ahead. Nonsense becomes the zero time.
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
