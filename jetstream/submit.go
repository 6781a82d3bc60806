package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// Submit gives a job to the queue, and returns nil once it is durable. It refuses an
// id that is in the queue, or has a result, with [ErrExists]; a job for which there is
// no room, with [ErrFull]; and one that Validate refuses, with the error of Validate.
// After any other error the job may be in the queue or not: submit it again under the
// same id.
func (q *Queue) Submit(ctx context.Context, job Job) error {
	if err := job.Validate(); err != nil {
		return err
	}
	result, err := last(ctx, q.results, q.anyResult(key(job.ID)))
	if err != nil {
		return err
	}
	if result != nil {
		return ErrExists
	}
	if job.Submitted.IsZero() {
		job.Submitted = time.Now().UTC()
	}
	e := envelope{Job: job, Protocol: protocol}
	if e.raw, err = json.Marshal(&e); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	if err := q.admit(ctx, &e); err != nil {
		return err
	}
	return q.add(ctx, e)
}

// add puts a job where workers find it, unless it is in the queue already.
func (q *Queue) add(ctx context.Context, e envelope) error {
	key := key(e.ID)
	class, err := q.route(ctx, &e)
	if err != nil {
		return fmt.Errorf("jetstream: submit: %w", err)
	}
	msg, err := q.message(ctx, q.place(class, e.priority(), key), key, e.content())
	if err != nil {
		return q.refused(err)
	}
	_, err = q.js.PublishMsg(ctx, msg, js.WithExpectLastSequenceForSubject(0, q.anyJob(key)))
	if err != nil {
		_ = q.discard(ctx, msg.Header) // else it is swept later
		if conflict(err) {
			return ErrExists
		}
		return fmt.Errorf("jetstream: submit: %w", q.refused(err))
	}
	return q.nc.Publish(q.wake(), []byte(takerName(e.priority(), class)))
}
