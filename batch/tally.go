package batch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// Counts contains the counts of a batch.
type Counts struct {
	// Answered and Failed are the numbers of records in the output, including the records of earlier runs. Before is
	// the number of records when this run began.
	Answered, Failed, Before int
	// Cached is the number of answers from a cache; see package cache.
	Cached int
	// Kept is the number of failures that Config.RetryFailed alone does not retry, because the agent may have acted.
	Kept int
	// Format is the format of the input. It is empty until the format is known.
	Format Format
	// Changed is the number of lines whose requests differ from the requests that their records answer.
	Changed int
	// Bad is the number of input lines that cannot run.
	Bad int
	// Total is the number of input lines, including bad lines. It is -1 until the number is known.
	Total int
	// Running is the number of jobs that run in this process. Parked is the number of its jobs that wait for a later
	// attempt. Rest is the time before which no backend can answer. If Rest is zero or in the past, a backend can
	// answer.
	Running, Parked int
	Rest            time.Time
	// CostUSD is the known cost of all records, in US dollars.
	CostUSD  float64
	Backends map[string]int          // answers by backend
	Reasons  map[clichain.Reason]int // failures by Reason
}

// Done returns the number of lines that have a record.
func (c *Counts) Done() int { return c.Answered + c.Failed }

// Left returns the number of good lines without a record. It returns -1 if the number is not known.
func (c *Counts) Left() int {
	if c.Total < 0 {
		return -1
	}
	return max(c.Total-c.Bad-c.Done(), 0)
}

// tally provides concurrent access to Counts.
type tally struct {
	mu     sync.Mutex
	counts Counts
}

func newTally() *tally {
	return &tally{counts: Counts{Total: -1, Backends: map[string]int{}, Reasons: map[clichain.Reason]int{}}}
}

func (t *tally) change(do func(c *Counts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do(&t.counts)
}

// now returns a copy of the counts.
func (t *tally) now() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Backends, c.Reasons = maps.Clone(c.Backends), maps.Clone(c.Reasons)
	return c
}

// pay adds the cost of a record.
func (t *tally) pay(r *Record) { t.change(func(c *Counts) { c.CostUSD += r.cost() }) }

// add counts a record. The caller has already added its cost.
func (t *tally) add(r *Record) {
	t.change(func(c *Counts) {
		if r.Response != nil {
			c.Answered++
			c.Backends[r.Response.Backend]++
			if slices.Contains(r.Response.Flags, call.FlagCached) {
				c.Cached++
			}
			return
		}
		c.Failed++
		c.Reasons[r.Error.Reason]++
		if r.Error.SideEffects {
			c.Kept++
		}
	})
}
