package batch

import (
	"maps"
	"sync"
	"time"

	"github.com/clichain/clichain"
)

// Counts say how a batch stands. A plain value.
type Counts struct {
	// Answered and Failed count the records of the output, those of earlier runs too; Before is how many of both were
	// there when this run began.
	Answered, Failed, Before int
	// Kept are the failures among them that --retry-failed alone does not run again: the agent may have acted.
	Kept int
	// Format is that of the input. Empty: not known yet.
	Format Format
	// Changed are the lines that ask something else than their records were asked for.
	Changed int
	// Bad are the lines of the input that cannot be run.
	Bad int
	// Total is how many lines the input has, bad ones too; -1: not known yet.
	Total int
	// Running and Parked are jobs of this process, and Rest is until when no backend can answer.
	Running, Parked int
	Rest            time.Time
	// CostUSD is what is known of the cost of all records, in US dollars.
	CostUSD  float64
	Backends map[string]int          // answers, by who gave them
	Reasons  map[clichain.Reason]int // failures
}

// Done is how many lines have their record.
func (c *Counts) Done() int { return c.Answered + c.Failed }

// Left is how many good lines have no record yet; -1: not known.
func (c *Counts) Left() int {
	if c.Total < 0 {
		return -1
	}
	return max(c.Total-c.Bad-c.Done(), 0)
}

// tally is Counts that several goroutines change.
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

// now is a copy of the counts.
func (t *tally) now() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Backends, c.Reasons = maps.Clone(c.Backends), maps.Clone(c.Reasons)
	return c
}

// pay counts what a record has cost.
func (t *tally) pay(r *Record) { t.change(func(c *Counts) { c.CostUSD += r.cost() }) }

// add counts a record that was paid.
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
