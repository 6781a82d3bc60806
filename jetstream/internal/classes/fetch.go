package classes

import (
	"cmp"
	"errors"
	"fmt"
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

// ErrNoJobs is the error of Take.Allow for a consumer that has no jobs.
var ErrNoJobs = errors.New("the consumer has no jobs")

var errNotAllowed = errors.New("it is not known whether jobs may be taken")

// Take selects the jobs that Fetch takes. All functions are required.
type Take struct {
	// Accept reports whether to take jobs of a consumer.
	Accept func(*Consumer) bool
	// Priority returns the priority that counts for the jobs of a consumer.
	Priority func(*Consumer) string
	// Allow returns how many of n jobs of a consumer to take now. It may return ErrNoJobs.
	Allow func(c *Consumer, n int) (int, error)
	// Begin gets each job.
	Begin func(js.Msg)
}

// Fetch takes up to n jobs, higher priorities first. The owners of one priority take turns, and the classes of one
// owner take turns.
func (c *Consumers) Fetch(n int, take Take) (taken int, err error) {
	var missing error
	for _, p := range c.priorities {
		may := c.candidates(p, take)
		for len(may) > 0 && taken < n {
			next, share := c.next(p, may, n-taken)
			got, err := c.fetch(p, next, share, take)
			taken += got
			switch {
			case jsapi.IsAny(err, errNotAllowed, js.ErrConsumerDeleted, js.ErrConsumerNotFound, nats.ErrNoResponders):
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

// fetch takes up to share jobs from a consumer, whose jobs have the priority p.
func (c *Consumers) fetch(p string, from *Consumer, share int, take Take) (got int, err error) {
	asked := time.Now()
	allowed, err := take.Allow(from, share)
	empty := errors.Is(err, ErrNoJobs)
	if err != nil && !empty {
		return 0, fmt.Errorf("%w: %w", errNotAllowed, err)
	}
	if err = nil; allowed > 0 {
		got, err = from.fetch(allowed, take.Begin)
		empty = got < allowed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if got > 0 {
		c.starts++
		c.served[store.Group{Priority: p, Owner: from.Owner}], from.state.served = c.starts, c.starts
	}
	if empty {
		from.state.empty = asked
	}
	return got, err
}

// candidates returns the consumers that may have jobs of a priority.
func (c *Consumers) candidates(priority string, take Take) []*Consumer {
	now := time.Now()
	list := slices.DeleteFunc(c.List(), func(t *Consumer) bool {
		if take.Priority(t) != priority {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return !t.state.mayHaveJobs(now)
	})
	return slices.DeleteFunc(list, func(t *Consumer) bool { return !take.Accept(t) })
}

// next returns the consumer whose turn it is, and its share of n jobs. All of them count as having the priority p.
func (c *Consumers) next(p string, may []*Consumer, n int) (_ *Consumer, share int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	owners := map[string]bool{}
	for _, t := range may {
		owners[t.Owner] = true
	}
	served := func(t *Consumer) uint64 { return c.served[store.Group{Priority: p, Owner: t.Owner}] }
	turn := slices.MinFunc(may, func(a, b *Consumer) int {
		return cmp.Or(cmp.Compare(served(a), served(b)), cmp.Compare(a.state.served, b.state.served))
	})
	return turn, max(1, n/len(owners))
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
