package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// NoQueueError is the error of Open for a queue that is not there, where Config.MustExist
// is set. A plain value.
type NoQueueError struct {
	Name   string   // of the queue
	Queues []string // those that are there, in the order of their names
}

// Error names the queues that are there.
func (e *NoQueueError) Error() string {
	there := "there is none yet: a worker makes one, and so does the first job"
	if len(e.Queues) > 0 {
		there = `there are "` + strings.Join(e.Queues, `", "`) + `"`
	}
	return fmt.Sprintf("jetstream: there is no queue %q: %s", e.Name, there)
}

// find is the *NoQueueError for a queue that is not there.
func (q *Queue) find(ctx context.Context) error {
	_, err := q.js.Stream(ctx, q.streamName("jobs"))
	if !errors.Is(err, js.ErrStreamNotFound) {
		return err
	}
	missing := &NoQueueError{Name: q.cfg.Name}
	names := q.js.StreamNames(ctx)
	for name := range names.Name() {
		rest, ours := strings.CutPrefix(name, "clichain_")
		if queue, ok := strings.CutSuffix(rest, "_jobs"); ours && ok {
			missing.Queues = append(missing.Queues, queue)
		}
	}
	if err := names.Err(); err != nil {
		return err
	}
	slices.Sort(missing.Queues)
	return missing
}

// pending is the error of Result for a job without one: ErrPending, or ErrNotFound where
// there is no such job.
func (q *Queue) pending(ctx context.Context, key string) error {
	msg, err := last(ctx, q.jobs, q.anyJob(key))
	if err != nil {
		return err
	}
	if msg == nil {
		return ErrNotFound
	}
	if due := dueOf(msg); !due.IsZero() {
		return fmt.Errorf("%w: it waits until %s", ErrPending, due.Format(time.RFC3339))
	}
	return ErrPending
}

// The pauses between two looks of Wait.
const (
	waitFirst = 20 * time.Millisecond
	waitMost  = 500 * time.Millisecond
)

// Wait waits until a job has its result, and returns it. The error is [ErrNotFound] where
// there is no such job, or none any more. Where ctx ends before that it is that of ctx,
// together with the error of the last look for the result if that failed: a server that
// does not answer may come back.
func (q *Queue) Wait(ctx context.Context, id string) (*Result, error) {
	for pause := waitFirst; ; pause = min(2*pause, waitMost) {
		look, cancel := context.WithTimeout(ctx, writeLimit)
		r, err := q.Result(look, id)
		cancel()
		if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, errUnreadable) {
			return r, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
			timer.Stop()
		}
		if errors.Is(err, ErrPending) || errors.Is(err, ctx.Err()) {
			return nil, fmt.Errorf("jetstream: no result of job %q: %w", id, context.Cause(ctx))
		}
		return nil, fmt.Errorf("jetstream: no result of job %q: %w (the last look for it failed: %w)",
			id, context.Cause(ctx), err)
	}
}
