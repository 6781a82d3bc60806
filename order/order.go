package order

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
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

	// Place is the backend's in the chain, from 1. A chain passes over a
	// candidate without one.
	Place int
}

// Strategy says in which order a chain asks its backends: it returns the
// candidates in another order, or only some of them. They come in the chain's
// own order. It may change the slice, and must be safe for concurrent use.
type Strategy func(req call.Request, candidates []Candidate) []Candidate

// LeastRecentlyLimited asks first who has met no limit, then who met one
// longest ago.
func LeastRecentlyLimited(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return a.LastLimited.Compare(b.LastLimited) })
	return candidates
}

// Fastest asks the fastest first; whose speed is not known comes last.
func Fastest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(unknownLast(a.Duration == 0, b.Duration == 0), cmp.Compare(a.Duration, b.Duration))
	})
	return candidates
}

// Cheapest asks the cheapest first; whose cost is not known comes last.
func Cheapest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		if a.CostUSD == nil || b.CostUSD == nil {
			return unknownLast(a.CostUSD == nil, b.CostUSD == nil)
		}
		return cmp.Compare(*a.CostUSD, *b.CostUSD)
	})
	return candidates
}

// StickySession asks first whose session the request goes on from: nobody
// else can.
func StickySession(req call.Request, candidates []Candidate) []Candidate {
	s, _ := session.Parse(req.Session)
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return unknownLast(a.Name != s.Backend, b.Name != s.Backend) })
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
