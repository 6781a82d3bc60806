package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// Unmet is jobs with the same needs that no connected worker can take. They stay in the queue until one can. A plain
// value.
type Unmet struct {
	// Needs names what the jobs need of a worker.
	Needs string `json:"needs"`
	Jobs  int    `json:"jobs"`
	// Since is when the first of them was submitted.
	Since time.Time `json:"since"`
	// Why has the reason of each connected worker.
	Why string `json:"why"`
}

// Waiting says what a job without a result waits for. A plain value.
type Waiting struct {
	// Until is the earliest time at which a worker can take the job. Zero: now, or not known.
	Until time.Time `json:"until,omitzero"`
	// Why says what keeps the job. Empty: nothing; a worker has it, or takes it when it has a free slot.
	Why string `json:"why,omitempty"`
}

// unmetAfter is how old a job is that Status lists in Unmet.
const unmetAfter = 10 * time.Minute

// Waiting says what a job waits for. The error is [ErrNotFound] for a job that is not in the queue.
func (q *Queue) Waiting(ctx context.Context, id string) (*Waiting, error) {
	msg, err := last(ctx, q.jobs, q.anyJob(key(id)))
	if err != nil {
		return nil, err
	}
	if msg == nil {
		return nil, ErrNotFound
	}
	class, rest, _ := strings.Cut(strings.TrimPrefix(msg.Subject, q.subject("job.")), ".")
	if class == "later" {
		return &Waiting{Until: dueOf(msg), Why: "it waits after a failure"}, nil
	}
	if err := q.look(ctx); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	workers, err := q.workerList(ctx)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	priority, _, _ := strings.Cut(rest, ".")
	if t := q.takers.get(takerName(Priority(priority), class)); t != nil {
		info, err := t.Info(ctx)
		if err == nil && msg.Sequence <= info.Delivered.Stream {
			return &Waiting{}, nil // a worker has it
		}
	}
	until, takes, why := takersOf(workers, class)
	switch {
	case !takes:
		return &Waiting{Why: "it needs " + q.needsOf(Priority(priority), class) + ", and " + why}, nil
	case until.After(time.Now()):
		return &Waiting{Until: until, Why: "each worker that can take it is in cooldown"}, nil
	}
	return &Waiting{}, nil
}

// needsOf names the needs of a class.
func (q *Queue) needsOf(p Priority, class string) string {
	t := q.takers.get(takerName(p, class))
	if t == nil || t.needs == nil {
		return "a worker of a later version"
	}
	return t.needs.String()
}

// dueOf is when the server moves a job that waits for a time.
func dueOf(msg *js.RawStreamMsg) time.Time {
	due, _ := strings.CutPrefix(msg.Header.Get(scheduleHeader), "@at ")
	at, err := time.Parse(time.RFC3339Nano, due)
	if err != nil {
		return time.Time{}
	}
	return at
}

// maxReasons is of how many workers the reasons are told.
const maxReasons = 4

// takersOf finds when the first of the connected workers can take jobs of a class, and why none can. A worker that has
// not said yet may be one that can.
func takersOf(workers []WorkerStatus, class string) (until time.Time, takes bool, why string) {
	var reasons []string
	for _, w := range workers {
		if !w.Alive {
			continue
		}
		at, refusal := w.outlook(class)
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

// outlook is when a worker takes jobs of a class, or why it does not.
func (s *WorkerStatus) outlook(class string) (at time.Time, refusal string) {
	if s.Protocol == 0 { // a worker of the first protocol says nothing of itself
		if class == readyClass {
			return s.RestingUntil, ""
		}
		return at, fmt.Sprintf("it has protocol %d, and the job was written by a later version", firstProtocol)
	}
	return s.Takes[class], s.Refuses[class]
}

// tellClasses finds the jobs that no worker can take now, and counts those that wait for the end of a cooldown as
// parked.
func (q *Queue) tellClasses(ctx context.Context, s *Status) error {
	now := time.Now()
	for _, t := range q.takers.list() {
		n := int(t.CachedInfo().NumPending)
		if n == 0 {
			continue
		}
		until, takes, why := takersOf(s.Workers, t.class)
		switch {
		case takes && until.After(now):
			s.Ready[t.priority] -= n
			s.Parked += n
			if s.NextDue.IsZero() || until.Before(s.NextDue) {
				s.NextDue = until
			}
		case !takes:
			since, err := q.firstIn(ctx, t)
			if err != nil {
				return err
			}
			if !since.IsZero() && now.Sub(since) >= unmetAfter {
				s.Unmet = append(s.Unmet, Unmet{q.needsOf(t.priority, t.class), n, since, why})
			}
		}
	}
	return nil
}

// firstIn is when the first job of a class was submitted; zero where there is none any more.
func (q *Queue) firstIn(ctx context.Context, t *taker) (since time.Time, err error) {
	msg, err := q.jobs.GetMsg(ctx, 1, js.WithGetMsgSubject(q.place(t.class, t.priority, "*")))
	if errors.Is(err, js.ErrMsgNotFound) {
		return since, nil
	}
	if err != nil {
		return since, err
	}
	var job struct{ Submitted time.Time }
	data, err := q.content(ctx, msg.Header, msg.Data)
	if err != nil || json.Unmarshal(data, &job) != nil || job.Submitted.IsZero() {
		return msg.Time, nil // no version that writes jobs leaves it out
	}
	return job.Submitted, nil
}
