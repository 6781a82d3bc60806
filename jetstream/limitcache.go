package jetstream

import (
	"context"
	"sync"
	"time"
)

// limitAge bounds how long a client relies on what it knows of the limits of owners and of their use.
const limitAge = time.Second

// limitCache has the limits of the owners as this client read them last. It is safe for concurrent use.
type limitCache struct {
	mu     sync.Mutex
	limits *Limits
	at     time.Time
}

// get returns the limits, which are at most limitAge old. If they cannot be read, it returns the last known limits, or
// the error if none are known.
func (c *limitCache) get(ctx context.Context, read func(context.Context) (*Limits, error)) (*Limits, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < limitAge {
		return c.limits, nil
	}
	fresh, err := read(ctx)
	switch {
	case err == nil:
		c.limits, c.at = fresh, time.Now()
	case c.limits == nil:
		return nil, err
	}
	return c.limits, nil
}

// queuedCounts has the last figures of the server: the jobs of each owner, plus those that this client has admitted
// since then. It is safe for concurrent use. The zero value is ready to use.
type queuedCounts struct {
	mu     sync.Mutex
	counts map[string]queuedCount
}

type queuedCount struct {
	n  int
	at time.Time
}

// admit counts a job, if the owner is known to have fewer jobs than the limit.
func (q *queuedCounts) admit(owner string, limit int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.counts[owner]
	if time.Since(c.at) > limitAge || c.n >= limit {
		return false
	}
	c.n++
	q.counts[owner] = c
	return true
}

func (q *queuedCounts) set(owner string, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.counts == nil {
		q.counts = map[string]queuedCount{}
	}
	q.counts[owner] = queuedCount{n, time.Now()}
}
