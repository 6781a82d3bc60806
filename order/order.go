// Package order holds the strategies by which a chain chooses the order of its
// backends. It sees only what a chain has measured of each; it knows no CLI by
// name, and does no I/O.
package order

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
)

// Candidate is what a [Strategy] knows of a backend: what this chain has
// measured so far. A plain value.
type Candidate struct {
	Name        string        // of the backend
	LastLimited time.Time     // when it last hit a limit; zero: never
	Duration    time.Duration // moving average of how long its answers took; zero: unknown
	CostUSD     *float64      // moving average of their costs in US dollars; nil: unknown
	// Place is the position of the backend in the chain, from 1. A chain ignores
	// a candidate without one.
	Place int
}

// Strategy says in which order a chain asks its backends: it returns the
// candidates in another order, or only some of them. They come in the chain's
// own order. Both are copies that it may change. It must be safe for concurrent use.
type Strategy func(req call.Request, candidates []Candidate) []Candidate

// LeastRecentlyLimited puts backends that have hit no limit first, then those
// that hit one longest ago.
func LeastRecentlyLimited(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return a.LastLimited.Compare(b.LastLimited) })
	return candidates
}

// Fastest puts the fastest first, and those of unknown speed last.
func Fastest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(falseFirst(a.Duration == 0, b.Duration == 0), cmp.Compare(a.Duration, b.Duration))
	})
	return candidates
}

// Cheapest puts the cheapest first, and those of unknown cost last.
func Cheapest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		if a.CostUSD == nil || b.CostUSD == nil {
			return falseFirst(a.CostUSD == nil, b.CostUSD == nil)
		}
		return cmp.Compare(*a.CostUSD, *b.CostUSD)
	})
	return candidates
}

// StickySession puts the backend first whose session the request continues,
// because no other backend can.
func StickySession(req call.Request, candidates []Candidate) []Candidate {
	s, _ := session.Parse(req.Session)
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return falseFirst(a.Name != s.Backend, b.Name != s.Backend)
	})
	return candidates
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
