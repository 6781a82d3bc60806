package decode

import (
	"time"

	"github.com/clichain/clichain/call"
	"github.com/tidwall/gjson"
)

// window returns the usage window that the fields of an event fill.
func window(e *Item) *call.QuotaWindow {
	if len(e.Quota) == 0 {
		e.Quota = make([]call.QuotaWindow, 1)
	}
	return &e.Quota[0]
}

// joinWindows makes the windows of the events from an index one event.
func (s *Scratch) joinWindows(from int) {
	for i := from + 1; i < len(s.items); i++ {
		s.items[from].Quota = append(s.items[from].Quota, s.items[i].Quota...)
	}
	s.items = s.items[:min(from+1, len(s.items))]
}

// share returns a share from 0 to 1 of full, or nil for unknown. A plan can be used beyond its end, which counts as 1.
// A value far above is in another unit.
func share(v gjson.Result, full float64) *float64 {
	n := finite(v)
	if n == nil || *n < 0 || *n > 10*full {
		return nil
	}
	return new(min(*n/full, 1))
}

// written returns a time in the form of RFC 3339, or the zero time.
func written(v gjson.Result) time.Time {
	t, err := time.Parse(time.RFC3339, v.String())
	if err != nil {
		return time.Time{}
	}
	return t
}
