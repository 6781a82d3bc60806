package reading

import (
	"hash/maphash"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/decode"
)

// repeats records the latest line of a stream and the IDs of the latest events. The zero value is ready to use,
// by one goroutine at a time.
type repeats struct {
	hash maphash.Hash
	last uint64
	has  bool
	ids  [64]uint64 // of the latest events that have an ID
	next int        // the index of the oldest ID
}

// again reports whether a line has the ID of an earlier event or equals the previous line. A block of text, a
// tool use or usage in such a line must not count twice. A text delta without an ID may legitimately equal the
// previous one.
func (r *repeats) again(line []byte, items []decode.Item) bool {
	if id := idOf(items); id != 0 {
		if slices.Contains(r.ids[:], id) {
			return true
		}
		r.ids[r.next], r.next = id, (r.next+1)%len(r.ids)
	}
	adds := false
	for i := range items {
		switch items[i].Kind {
		case call.EventText, call.EventToolUse, call.EventUsage:
			adds = true
		case call.EventDelta:
			r.has = false
			return false
		}
	}
	if !adds {
		r.has = false
		return false
	}
	r.hash.Reset()
	_, _ = r.hash.Write(line) // never fails
	sum := r.hash.Sum64()
	same := r.has && sum == r.last
	r.last, r.has = sum, true
	return same
}

// idOf returns the ID of a line's events, or 0 if they have none.
func idOf(items []decode.Item) uint64 {
	for i := range items {
		if id := items[i].EventID; id != 0 {
			return id
		}
	}
	return 0
}
