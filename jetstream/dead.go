package jetstream

import (
	"context"
	"time"
)

// Retry submits the job of a dead letter again, as if nothing had happened before; a
// Deadline that has passed is taken away.
// The error is [ErrNotFound] where there is no such dead letter. For a job with
// Failure.SideEffects this is a person's decision.
func (q *Queue) Retry(ctx context.Context, id string) error {
	key := key(id)
	msg, err := last(ctx, q.results, q.failed(key))
	if err != nil {
		return err
	}
	if msg == nil {
		return ErrNotFound
	}
	r, err := q.result(ctx, msg.Header, msg.Data, msg.Sequence)
	if err != nil {
		return err
	}
	if r.Job == nil {
		return ErrNotFound
	}
	// In this order nothing is lost wherever it breaks off: as long as the result is
	// there the job can be retried, and a worker that takes the job removes the result.
	if err := q.unmark(ctx, key); err != nil {
		return err
	}
	job := *r.Job
	job.Submitted = time.Now().UTC()
	if job.Deadline.Before(job.Submitted) {
		job.Deadline = time.Time{}
	}
	if err := q.add(ctx, envelope{Job: job, Replaces: msg.Sequence}); err != nil && err != ErrExists {
		return err
	}
	return q.removeResult(ctx, msg)
}

// Drop removes a dead letter, or a job that waits. The error is [ErrNotFound] where
// there is neither. A job that runs meanwhile goes on, and has a result.
func (q *Queue) Drop(ctx context.Context, id string) error {
	key := key(id)
	if msg, err := last(ctx, q.results, q.failed(key)); err != nil {
		return err
	} else if msg != nil {
		if err := q.unmark(ctx, key); err != nil {
			return err
		}
		return q.removeResult(ctx, msg)
	}
	msg, err := last(ctx, q.jobs, q.anyJob(key))
	if err != nil {
		return err
	}
	if msg == nil {
		return ErrNotFound
	}
	if err := remove(ctx, q.jobs, msg.Sequence); err != nil {
		return err
	}
	return q.discard(ctx, msg.Header)
}
