package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// Submit gives a job to the queue, and returns nil once it is durable. It refuses an id that is in the queue, or has
// a result, with [ErrExists]; a job for which there is no room, with [ErrFull]; and one that Validate refuses, with
// the error of Validate. After any other error the job may be in the queue or not: submit it again under the same id.
func (q *Queue) Submit(ctx context.Context, job Job) error {
	if err := job.Validate(); err != nil {
		return err
	}
	result, err := q.store.LastResult(ctx, store.Key(job.ID))
	if err != nil {
		return err
	}
	if result != nil {
		return ErrExists
	}
	if job.Submitted.IsZero() {
		job.Submitted = time.Now().UTC()
	}
	e := envelope{Job: job, Protocol: classes.Protocol}
	j, err := e.stored("")
	if err != nil {
		return err
	}
	if err := q.store.Reserve(ctx, j.Key, j.Data); err != nil {
		return err
	}
	e.raw = j.Data
	return q.add(ctx, &e)
}

// add adds a job, unless it is in the queue already.
func (q *Queue) add(ctx context.Context, e *envelope) error {
	class, err := q.route(ctx, e)
	if err != nil {
		return fmt.Errorf("jetstream: submit: %w", err)
	}
	j, err := e.stored(class)
	if err != nil {
		return err
	}
	return q.store.Add(ctx, j)
}

// Retry submits the job of a dead letter again, as if nothing had happened before; a Deadline that has passed is
// taken away. The error is [ErrNotFound] where there is no such dead letter, and [ErrExists] where the worker that
// failed at it does not leave it within 10 s. For a job with Failure.SideEffects this is a person's decision.
func (q *Queue) Retry(ctx context.Context, id string) error {
	key := store.Key(id)
	msg, err := q.store.LastFailure(ctx, key)
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
	// In this order nothing is lost wherever it breaks off: as long as the result is there the job can be retried, and a
	// worker that takes the job removes the result.
	if err := q.store.Unmark(ctx, key); err != nil {
		return err
	}
	if err := q.addAgain(ctx, &e); err != nil {
		return err
	}
	return q.store.RemoveResult(ctx, msg)
}

// leaveLimit bounds how long Retry waits for the worker that has failed at a job to leave it: the result is stored
// before that.
const leaveLimit = 10 * time.Second

// addAgain adds the job of a dead letter, unless an earlier Retry has done so. The message of its last delivery may
// be there for a moment.
func (q *Queue) addAgain(ctx context.Context, e *envelope) error {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(5*time.Millisecond), backoff.WithMaxInterval(time.Second),
		backoff.WithMaxElapsedTime(leaveLimit))
	return backoff.Retry(func() error {
		err := q.add(ctx, e)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrExists) {
			return backoff.Permanent(err)
		}
		switch replaces, err := q.replaced(ctx, store.Key(e.ID)); {
		case err != nil:
			return backoff.Permanent(err)
		case replaces == e.Replaces:
			return nil
		}
		return fmt.Errorf("%w: its worker has not left it yet", ErrExists)
	}, backoff.WithContext(pause, ctx))
}

// replaced is the sequence of the failed result in whose place a job is in the queue; zero where there is none.
func (q *Queue) replaced(ctx context.Context, key string) (sequence uint64, err error) {
	msg, err := q.store.LastJob(ctx, key)
	if err != nil || msg == nil {
		return 0, err
	}
	var job struct{ Replaces uint64 }
	err = q.store.Read(ctx, msg.Header, msg.Data, &job)
	return job.Replaces, err
}

// Drop removes a dead letter, or a job that waits. The error is [ErrNotFound] where there is neither. A job that runs
// meanwhile goes on, and has a result.
func (q *Queue) Drop(ctx context.Context, id string) error {
	key := store.Key(id)
	if msg, err := q.store.LastFailure(ctx, key); err != nil {
		return err
	} else if msg != nil {
		if err := q.store.Unmark(ctx, key); err != nil {
			return err
		}
		return q.store.RemoveResult(ctx, msg)
	}
	msg, err := q.store.LastJob(ctx, key)
	if err != nil {
		return err
	}
	if msg == nil {
		return ErrNotFound
	}
	return q.store.RemoveJob(ctx, msg)
}
