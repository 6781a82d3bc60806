package failover

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/order"
)

// Stats are the observed duration, cost and limits of the candidates of a chain. They are safe for concurrent
// use.
type Stats struct {
	mu   sync.Mutex
	seen []order.Candidate // in the order of the chain
}

// NewStats returns empty Stats for the candidates.
func NewStats(candidates []Candidate) *Stats {
	s := &Stats{seen: make([]order.Candidate, len(candidates))}
	for i, c := range candidates {
		s.seen[i] = order.Candidate{Name: c.Name(), Place: i + 1}
	}
	return s
}

// order returns the indexes of the candidates in the order of the strategy, which may modify its arguments. windows
// returns the usage windows of the candidate at an index.
func (s *Stats) order(
	strategy order.Strategy, req call.Request, windows func(place int) []call.QuotaWindow,
) (places []int) {
	s.mu.Lock()
	candidates := slices.Clone(s.seen)
	s.mu.Unlock()
	for i, c := range candidates {
		candidates[i].Quota = sync.OnceValue(func() []call.QuotaWindow { return windows(i) })
		if c.CostUSD != nil {
			candidates[i].CostUSD = new(*c.CostUSD)
		}
	}
	for _, c := range strategy(req.Clone(), candidates) {
		if c.Place > 0 && c.Place <= len(s.seen) && !slices.Contains(places, c.Place-1) {
			places = append(places, c.Place-1)
		}
	}
	return places
}

// weight is the weight of the latest answer in a moving average.
const weight = 0.3

// answered records the duration and the cost of an answer.
func (s *Stats) answered(place int, resp *call.Response) {
	s.change(place, func(c *order.Candidate) {
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

// failed records the time if a candidate reached a limit.
func (s *Stats) failed(place int, reason call.Reason, now time.Time) {
	if reason == call.ReasonRateLimited || reason == call.ReasonUsageLimit {
		s.change(place, func(c *order.Candidate) { c.LastLimited = now })
	}
}

func (s *Stats) change(place int, f func(*order.Candidate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.seen[place])
}
