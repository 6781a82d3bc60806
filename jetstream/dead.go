package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Retry submits the job of a dead letter again, as if nothing had happened before; a
// Deadline that has passed is taken away.
// The error is [ErrNotFound] where there is no such dead letter, and
// [ErrExists] where the worker that failed at it does not leave it within 10 s. For a job with
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
	e, ok := r.again(time.Now())
	if !ok {
		return ErrNotFound
	}
	// In this order nothing is lost wherever it breaks off: as long as the result is
	// there the job can be retried, and a worker that takes the job removes the result.
	if err := q.unmark(ctx, key); err != nil {
		return err
	}
	if err := q.addAgain(ctx, e); err != nil {
		return err
	}
	return q.removeResult(ctx, msg)
}

// leaveLimit bounds how long Retry waits for the worker that has failed at a job to
// leave it: the result is stored before that.
const leaveLimit = 10 * time.Second

// addAgain adds the job of a dead letter, unless an earlier Retry has done so. The
// message of its last delivery may be there for a moment.
func (q *Queue) addAgain(ctx context.Context, e envelope) error {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(5*time.Millisecond), backoff.WithMaxInterval(time.Second),
		backoff.WithMaxElapsedTime(leaveLimit))
	return backoff.Retry(func() error {
		err := q.add(ctx, e)
		if err == nil || !errors.Is(err, ErrExists) {
			return permanent(err)
		}
		there, unread := q.replaced(ctx, key(e.ID))
		if unread != nil {
			return permanent(unread)
		}
		if there == e.Replaces {
			return nil
		}
		return fmt.Errorf("%w: its worker has not left it yet", ErrExists)
	}, backoff.WithContext(pause, ctx))
}

func permanent(err error) error {
	if err == nil {
		return nil
	}
	return backoff.Permanent(err)
}

// replaced is the sequence of the failed result in whose place a job is in the queue; zero where there is none.
func (q *Queue) replaced(ctx context.Context, key string) (sequence uint64, err error) {
	msg, err := last(ctx, q.jobs, q.anyJob(key))
	if err != nil || msg == nil {
		return 0, err
	}
	var job struct{ Replaces uint64 }
	err = q.read(ctx, msg.Header, msg.Data, &job)
	return job.Replaces, err
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
