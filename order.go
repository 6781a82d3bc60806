package clichain

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Candidate is what a [Strategy] may know of a backend: what this chain has
// seen of it so far. A plain value.
type Candidate struct {
	// Name is the backend's.
	Name string
	// LastLimited is when a limit was last met. Zero: never.
	LastLimited time.Time
	// Duration is a moving average over its answers. Zero: unknown.
	Duration time.Duration
	// CostUSD is the same of what they cost, in US dollars. Nil: unknown.
	CostUSD *float64

	place int // in the chain, from 1; 0: none that this chain has made
}

// Strategy says in which order a chain asks its backends: it returns the
// candidates in another order, or only some of them. They come in the chain's
// own order. It may change the slice, and must be safe for concurrent use.
type Strategy func(req Request, candidates []Candidate) []Candidate

// LeastRecentlyLimited asks first who has met no limit, then who met one
// longest ago.
func LeastRecentlyLimited(_ Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return a.LastLimited.Compare(b.LastLimited) })
	return candidates
}

// FastestKnown asks the fastest first; whose speed is not known comes last.
func FastestKnown(_ Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(unknownLast(a.Duration == 0, b.Duration == 0), cmp.Compare(a.Duration, b.Duration))
	})
	return candidates
}

// CheapestKnown asks the cheapest first; whose cost is not known comes last.
func CheapestKnown(_ Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		if a.CostUSD == nil || b.CostUSD == nil {
			return unknownLast(a.CostUSD == nil, b.CostUSD == nil)
		}
		return cmp.Compare(*a.CostUSD, *b.CostUSD)
	})
	return candidates
}

// StickyBySession asks first whose session the request goes on from: nobody
// else can.
func StickyBySession(req Request, candidates []Candidate) []Candidate {
	s, _ := parseSession(req.Session)
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return unknownLast(a.Name != s.backend, b.Name != s.backend) })
	return candidates
}

func unknownLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// record is what a chain has seen of its backends. It is safe for concurrent
// use.
type record struct {
	mu   sync.Mutex
	seen []Candidate // in the order of the chain
}

func newRecord(backends []Backend) *record {
	r := &record{seen: make([]Candidate, len(backends))}
	for i, b := range backends {
		r.seen[i] = Candidate{Name: b.Name(), place: i + 1}
	}
	return r
}

// order is the places of the backends as the strategy wants them.
func (r *record) order(strategy Strategy, req Request) (places []int) {
	r.mu.Lock()
	candidates := slices.Clone(r.seen)
	r.mu.Unlock()
	for _, c := range strategy(req, candidates) {
		if c.place > 0 && !slices.Contains(places, c.place-1) {
			places = append(places, c.place-1)
		}
	}
	return places
}

// weight is how much the latest answer counts in an average.
const weight = 0.3

// answered notes what an answer took.
func (r *record) answered(place int, resp *Response) {
	r.change(place, func(c *Candidate) {
		if c.Duration == 0 {
			c.Duration = resp.Duration
		}
		c.Duration += time.Duration(weight * float64(resp.Duration-c.Duration))
		if usd := resp.Usage.CostUSD; usd != nil {
			old := *cmp.Or(c.CostUSD, usd)
			c.CostUSD = new(old + weight*(*usd-old))
		}
	})
}

// failed notes a limit.
func (r *record) failed(place int, reason Reason, now time.Time) {
	if reason == ReasonRateLimited || reason == ReasonUsageLimit {
		r.change(place, func(c *Candidate) { c.LastLimited = now })
	}
}

func (r *record) change(place int, f func(*Candidate)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.seen[place])
}
