package reading

import (
	"hash/maphash"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/decode"
)

// repeats knows the latest line of a stream. The zero value is ready to use, by one goroutine at a time.
type repeats struct {
	hash maphash.Hash
	last uint64
	has  bool
}

// again reports whether a line is the same as the one before it, so that what it adds must not count twice: a block of
// text, a tool, what was used. A piece of text may well be the same as the last.
func (r *repeats) again(line []byte, items []decode.Item) bool {
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
