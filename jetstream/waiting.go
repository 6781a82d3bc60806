package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// Unmet are jobs with the same needs that no connected worker can take. They stay in the queue until a worker can. It
// is a plain value.
type Unmet struct {
	// Needs describes what the jobs need.
	Needs string `json:"needs"`
	Jobs  int    `json:"jobs"`
	// Since is the time at which the first of them was submitted.
	Since time.Time `json:"since"`
	// Why has the reason of each connected worker.
	Why string `json:"why"`
}

// Waiting describes what a job without a result waits for. It is a plain value.
type Waiting struct {
	// Until is the earliest time at which a worker can take the job. Zero: now, or not known.
	Until time.Time `json:"until,omitzero"`
	// Why says what keeps the job waiting. Empty: a worker runs it, or will run it in the next free slot.
	Why string `json:"why,omitempty"`
}

// unmetAfter is the minimum age of a job in Status.Unmet.
const unmetAfter = 10 * time.Minute

// Waiting returns what a job waits for. The error is [ErrNotFound] for a job that is not in the queue.
func (q *Queue) Waiting(ctx context.Context, id string) (*Waiting, error) {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	if err != nil {
		return nil, err
	}
	if msg == nil {
		return nil, ErrNotFound
	}
	class, group, scheduled := q.store.Place(msg.Subject)
	if scheduled {
		return &Waiting{Until: store.Due(msg), Why: "it waits for a retry after a failure"}, nil
	}
	if err := q.consumers.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	if c := q.consumers.Get(class, group); c != nil {
		info, err := c.Info(ctx)
		if err == nil && msg.Sequence <= info.Delivered.Stream {
			return &Waiting{}, nil // a worker runs it
		}
	}
	if w, err := ownerWaiting(ctx, q, group.Owner); w != nil || err != nil {
		return w, err
	}
	workers, err := q.workers(ctx)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	until, takes, why := firstTaker(workers, class)
	switch {
	case !takes:
		return &Waiting{Why: "it needs " + q.consumers.NeedsOf(class, group).String() + ", and " + why}, nil
	case until.After(time.Now()):
		return &Waiting{Until: until, Why: "each worker that can take it is in cooldown or reserved"}, nil
	}
	return &Waiting{}, nil
}

// maxReasons bounds the number of workers in Unmet.Why.
const maxReasons = 4

// firstTaker returns when the first connected worker can take jobs of a class, or why none can. A worker that has not
// reported on the class yet may be able to.
func firstTaker(workers []WorkerStatus, class string) (until time.Time, takes bool, why string) {
	var reasons []string
	for _, w := range workers {
		if !w.Alive {
			continue
		}
		at, refusal := w.takes(class)
		if refusal != "" {
			reasons = append(reasons, w.Name+": "+refusal)
			continue
		}
		if !takes || at.Before(until) {
			until = at
		}
		takes = true
	}
	slices.Sort(reasons)
	switch more := len(reasons) - maxReasons; {
	case len(reasons) == 0:
		why = "no worker is connected"
	case more > 0:
		why = fmt.Sprintf("no worker takes it: %s; and %d more", strings.Join(reasons[:maxReasons], "; "), more)
	default:
		why = "no worker takes it: " + strings.Join(reasons, "; ")
	}
	return until, takes, why
}

// takes returns when a worker takes jobs of a class, or why it does not.
func (s *WorkerStatus) takes(class string) (at time.Time, refusal string) {
	if s.Protocol == 0 { // a worker of the first protocol reports no classes
		if class == classes.Ready {
			return s.RestingUntil, ""
		}
		return at, fmt.Sprintf("it has protocol %d, and a later version wrote the job", classes.FirstProtocol)
	}
	return s.Takes[class], s.Refuses[class]
}

// addClasses adds the jobs that no worker can take now. It counts jobs that wait for the end of a cooldown as parked.
func (q *Queue) addClasses(ctx context.Context, s *Status) error {
	now := time.Now()
	for _, c := range q.consumers.List() {
		n := int(c.CachedInfo().NumPending)
		if n == 0 {
			continue
		}
		until, takes, why := firstTaker(s.Workers, c.Class)
		switch {
		case takes && until.After(now):
			s.Ready[Priority(c.Priority)] -= n
			s.Parked += n
			if s.NextDue.IsZero() || until.Before(s.NextDue) {
				s.NextDue = until
			}
		case !takes:
			since, err := q.firstSubmitted(ctx, c, 0)
			if err != nil {
				return err
			}
			if !since.IsZero() && now.Sub(since) >= unmetAfter {
				s.Unmet = append(s.Unmet, Unmet{c.Needs.String(), n, since, why})
			}
		}
	}
	return nil
}

// isIdle reports whether the worker runs no job, and the server has none that it can take now.
func (w *worker) isIdle(ctx context.Context) bool {
	if len(w.slots) > 0 || w.results.unstored.Load() > 0 {
		return false
	}
	if w.q.consumers.Refresh(ctx) != nil || w.pauses.refresh(ctx) != nil {
		return false
	}
	for _, c := range w.q.consumers.List() {
		if w.pauses.has(c) || !w.accepts(ctx, c) {
			continue
		}
		if info, err := c.Info(ctx); err != nil || info.NumPending > 0 {
			return false
		}
	}
	return true
}

// firstSubmitted returns when the first job of a class after a sequence was submitted; zero if there is none any more.
// It does not read a large payload, and then returns when the job was last stored.
func (q *Queue) firstSubmitted(ctx context.Context, c *classes.Consumer, after uint64) (since time.Time, err error) {
	msg, err := q.store.FirstJob(ctx, c.Filter, after)
	if msg == nil || err != nil {
		return since, err
	}
	var job struct{ Submitted time.Time }
	if err := json.Unmarshal(msg.Data, &job); err != nil || job.Submitted.IsZero() {
		return msg.Time, nil
	}
	return job.Submitted, nil
}
