package batch

import (
	"maps"
	"sync"
	"time"

	"github.com/clichain/clichain"
)

// Counts is the state of a batch. A plain value.
type Counts struct {
	// Answered and Failed count the records of the output, with those of earlier runs. Before is how many of both the
	// output had when this run began.
	Answered, Failed, Before int
	// Kept counts the failures that Config.RetryFailed alone does not run again: the agent may have acted.
	Kept int
	// Format is the format of the input. Empty: not known yet.
	Format Format
	// Changed counts the lines that ask something else than their records answer.
	Changed int
	// Bad counts the lines of the input that cannot run.
	Bad int
	// Total is the number of lines of the input, with bad ones. -1: not known yet.
	Total int
	// Running and Parked count the jobs of this process that run, and that wait for a later attempt. Rest is the time
	// before which no backend can answer; zero or in the past: one can.
	Running, Parked int
	Rest            time.Time
	// CostUSD is the known cost of all records, in US dollars.
	CostUSD  float64
	Backends map[string]int          // answers by backend
	Reasons  map[clichain.Reason]int // failures by Reason
}

// Done returns how many lines have a record.
func (c *Counts) Done() int { return c.Answered + c.Failed }

// Left returns how many good lines have no record yet. -1: not known.
func (c *Counts) Left() int {
	if c.Total < 0 {
		return -1
	}
	return max(c.Total-c.Bad-c.Done(), 0)
}

// tally holds Counts. Safe for concurrent use.
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

// add counts a record whose cost was added.
func (t *tally) add(r *Record) {
	t.change(func(c *Counts) {
		if r.Response != nil {
			c.Answered++
			c.Backends[r.Response.Backend]++
			return
		}
		c.Failed++
		c.Reasons[r.Error.Reason]++
		if r.Error.SideEffects {
			c.Kept++
		}
	})
}
