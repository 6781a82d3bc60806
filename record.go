package clichain

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/order"
)

// record is what a chain has seen of its backends. It is safe for concurrent
// use.
type record struct {
	mu   sync.Mutex
	seen []order.Candidate // in the order of the chain
}

func newRecord(backends []Backend) *record {
	r := &record{seen: make([]order.Candidate, len(backends))}
	for i, b := range backends {
		r.seen[i] = order.Candidate{Name: b.Name(), Place: i + 1}
	}
	return r
}

// order is the places of the backends as the strategy wants them. The strategy is the caller's, and may write to what
// it is given.
func (r *record) order(strategy order.Strategy, req Request) (places []int) {
	r.mu.Lock()
	candidates := slices.Clone(r.seen)
	r.mu.Unlock()
	for i, c := range candidates {
		if c.CostUSD != nil {
			candidates[i].CostUSD = new(*c.CostUSD)
		}
	}
	for _, c := range strategy(req.Clone(), candidates) {
		if c.Place > 0 && c.Place <= len(r.seen) && !slices.Contains(places, c.Place-1) {
			places = append(places, c.Place-1)
		}
	}
	return places
}

// weight is how much the latest answer counts in an average.
const weight = 0.3

// answered notes what an answer took.
func (r *record) answered(place int, resp *Response) {
	r.change(place, func(c *order.Candidate) {
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
		r.change(place, func(c *order.Candidate) { c.LastLimited = now })
	}
}

func (r *record) change(place int, f func(*order.Candidate)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.seen[place])
}

// try is one backend's part in a call.
type try struct {
	place   int // in the record
	backend Backend
	entry   *cooling.Entry
	start   time.Time
	ran     time.Time // when its first run began; before that it may have waited for a slot
	hurried bool      // it had less time than it is due
	resp    *Response
	err     error
}

// heard takes an event of the backend.
func (t *try) heard(e Event) {
	if e.Kind == EventStart && t.ran.IsZero() {
		t.ran = time.Now()
	}
}

// attempts are what a backend that failed tried. Waiting is no part of it.
func (t *try) attempts() []Attempt {
	attempts := attemptsOf(t.backend.Name(), t.err, time.Since(cmp.Or(t.ran, t.start)))
	if last := &attempts[len(attempts)-1]; t.ran.IsZero() && last.Skipped {
		last.Duration = 0
	}
	return slices.Concat(t.entry.Probed(), attempts)
}
