package classes

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// state is what this client knows about the jobs of a consumer.
type state struct {
	woken  time.Time // the last announcement of a job
	empty  time.Time // the last request that found too few jobs
	served uint64    // the value of Consumers.starts at the last fetch that found a job
}

const (
	// settleTime is longer than the server usually takes to announce a stored job to its consumer.
	settleTime = 250 * time.Millisecond
	// emptyAge bounds how long a consumer counts as empty. A job may become due there, or return after its worker died.
	emptyAge = time.Second
)

// mayHaveJobs reports whether to ask the server for jobs.
func (s *state) mayHaveJobs(now time.Time) bool {
	return now.Sub(s.empty) >= emptyAge || s.empty.Before(s.woken.Add(settleTime))
}

// Wake records that a consumer has got a job. It returns false if the consumer is not known.
func (c *Consumers) Wake(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.byName[name]
	if _, class, _ := strings.Cut(name, "-"); own == nil {
		shared := slices.IndexFunc(c.order, func(t *Consumer) bool { return t.Class == class && t.Owner == store.AnyOwner })
		if shared < 0 {
			return false
		}
		own = c.order[shared]
	}
	own.state.woken = time.Now()
	return true
}

// Fetch takes up to n jobs from the consumers that accept selects, higher priorities first, and calls begin for each.
// The owners of one priority take turns, and the classes of one owner take turns.
func (c *Consumers) Fetch(n int, accept func(*Consumer) bool, begin func(js.Msg)) (taken int, err error) {
	var missing error
	for _, p := range c.priorities {
		may := c.candidates(p, accept)
		for len(may) > 0 && taken < n {
			next, share := c.next(may, n-taken)
			asked := time.Now()
			got, err := next.fetch(share, begin)
			taken += got
			c.fetched(next, asked, got, share)
			gone := jsapi.IsAny(err, js.ErrConsumerDeleted, js.ErrConsumerNotFound, nats.ErrNoResponders)
			switch {
			case gone:
				missing = errors.Join(missing, err) // the other classes are still taken
			case err != nil:
				return taken, err
			}
			if got < share {
				may = slices.DeleteFunc(may, func(t *Consumer) bool { return t == next })
			}
		}
	}
	return taken, missing
}

// candidates returns the consumers of a priority that may have jobs.
func (c *Consumers) candidates(priority string, accept func(*Consumer) bool) []*Consumer {
	now := time.Now()
	list := slices.DeleteFunc(c.List(), func(t *Consumer) bool {
		if t.Priority != priority {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return !t.state.mayHaveJobs(now)
	})
	return slices.DeleteFunc(list, func(t *Consumer) bool { return !accept(t) })
}

// next returns the consumer whose turn it is, and its share of n jobs.
func (c *Consumers) next(may []*Consumer, n int) (_ *Consumer, share int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	owners := map[string]bool{}
	for _, t := range may {
		owners[t.Owner] = true
	}
	turn := slices.MinFunc(may, func(a, b *Consumer) int {
		return cmp.Or(cmp.Compare(c.served[a.Group], c.served[b.Group]), cmp.Compare(a.state.served, b.state.served))
	})
	return turn, max(1, n/len(owners))
}

func (c *Consumers) fetched(from *Consumer, asked time.Time, got, share int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got > 0 {
		c.starts++
		c.served[from.Group], from.state.served = c.starts, c.starts
	}
	if got < share {
		from.state.empty = asked
	}
}

func (c *Consumer) fetch(n int, begin func(js.Msg)) (taken int, err error) {
	batch, err := c.FetchNoWait(n)
	if err != nil {
		return 0, err
	}
	for m := range batch.Messages() {
		taken++
		begin(m)
	}
	if err := batch.Error(); err != nil && !errors.Is(err, js.ErrNoMessages) {
		return taken, err
	}
	return taken, nil
}
