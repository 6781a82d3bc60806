// Package order has strategies that sort the backends of a chain by the statistics that the chain has collected. Set
// one as ChainConfig.Order. The package does no I/O.
package order

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/quota"
)

// Candidate has the statistics of a chain about one backend.
type Candidate struct {
	Name        string        // name of the backend
	LastLimited time.Time     // time of the last usage limit or rate limit; zero: never
	Duration    time.Duration // moving average of the duration of its answers; zero: unknown
	// Quota returns the usage windows that the request would use, as they are known now. It reads the store once, when
	// it is first called. Nil: nothing is known.
	Quota   func() []call.QuotaWindow
	CostUSD *float64 // moving average of the cost of its answers in US dollars; nil: unknown
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

// Headroom sorts the backends by the share of their plans that is left per hour until the reset, as
// [quota.PerHour] returns it, most first. The backends for which it is unknown are in the middle, before those with
// nothing left.
func Headroom(_ call.Request, candidates []Candidate) []Candidate {
	type rated struct {
		Candidate
		left float64
	}
	var known []rated
	var unknown, sorted []Candidate
	now := time.Now()
	for _, c := range candidates {
		if c.Quota == nil {
			unknown = append(unknown, c)
		} else if left, ok := quota.PerHour(c.Quota(), now); ok {
			known = append(known, rated{c, left})
		} else {
			unknown = append(unknown, c)
		}
	}
	slices.SortStableFunc(known, func(a, b rated) int { return cmp.Compare(b.left, a.left) })
	middle := (len(known) + 1) / 2
	for middle > 0 && known[middle-1].left <= 0 {
		middle--
	}
	for _, c := range known {
		sorted = append(sorted, c.Candidate)
	}
	return slices.Insert(sorted, middle, unknown...)
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
