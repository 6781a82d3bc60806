package reading

import (
	"hash/maphash"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/decode"
)

// repeats knows the latest line of a stream, and the ids of the latest events. The zero value is ready to use, by one
// goroutine at a time.
type repeats struct {
	hash maphash.Hash
	last uint64
	has  bool
	ids  [64]uint64 // of the latest events that have one
	next int        // the oldest of them
}

// again reports whether a line has the id of an earlier event, or is the same as the line before, so that what it adds
// must not count twice: a block of text, a tool, what was used. A piece of text without an id may well be the same as
// the last.
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

// idOf is the id of a line's events; 0: they have none.
func idOf(items []decode.Item) uint64 {
	for i := range items {
		if id := items[i].EventID; id != 0 {
			return id
		}
	}
	return 0
}
