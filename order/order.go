// Package order has strategies that sort the backends of a chain by the statistics that the chain has collected. Set
// one as ChainConfig.Order. The package does no I/O.
package order

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
)

// Candidate has the statistics of a chain about one backend. It is a plain value.
type Candidate struct {
	Name        string        // name of the backend
	LastLimited time.Time     // time of the last usage limit or rate limit; zero: never
	Duration    time.Duration // moving average of the duration of its answers; zero: unknown
	CostUSD     *float64      // moving average of the cost of its answers in US dollars; nil: unknown
	// Place is the position of the backend in the chain, from 1. A chain ignores candidates without a Place.
	Place int
}

// Strategy returns the candidates in the order in which a chain asks them. It may omit candidates. It gets copies in
// the order of the chain, which it may modify. A Strategy must be safe for concurrent use.
type Strategy func(req call.Request, candidates []Candidate) []Candidate

// LeastRecentlyLimited puts backends without a limit first, followed by the others in the order of their last limit,
// oldest first.
func LeastRecentlyLimited(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return a.LastLimited.Compare(b.LastLimited) })
	return candidates
}

// Fastest sorts the backends by duration, shortest first. Backends with an unknown duration are last.
func Fastest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(falseFirst(a.Duration == 0, b.Duration == 0), cmp.Compare(a.Duration, b.Duration))
	})
	return candidates
}

// Cheapest sorts the backends by cost, lowest first. Backends with an unknown cost are last.
func Cheapest(_ call.Request, candidates []Candidate) []Candidate {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		if a.CostUSD == nil || b.CostUSD == nil {
			return falseFirst(a.CostUSD == nil, b.CostUSD == nil)
		}
		return cmp.Compare(*a.CostUSD, *b.CostUSD)
	})
	return candidates
}

// StickySession puts the backend of the session first that the request continues, because no other backend can
// continue it.
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
