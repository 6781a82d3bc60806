package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// Submit adds a job to the queue. It returns nil once the job is durable. The error is [ErrExists] if the ID is in the
// queue or has a result, and [ErrFull] if there is no space for the job. If a limit of the owner refuses the job, the
// error is a [*LimitError]. An invalid job gets the error of Validate. After any other error the job may or may not be
// in the queue: submit it again under the same ID. If several clients submit an ID at the same time, more than one may
// get nil; the job has one result.
func (q *Queue) Submit(ctx context.Context, job Job) error {
	if err := job.Validate(); err != nil {
		return err
	}
	if err := q.isNew(ctx, store.Key(job.ID)); err != nil {
		return err
	}
	if err := job.admit(ctx, q); err != nil {
		return err
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

// isNew returns ErrExists if a job is in the queue or has a result. A worker stores the result before it removes the
// job. Reading the result first could therefore miss both.
func (q *Queue) isNew(ctx context.Context, key string) error {
	for _, last := range []func(context.Context, string) (*js.RawStreamMsg, error){q.store.LastJob, q.store.LastResult} {
		if msg, err := last(ctx, key); err != nil {
			return err
		} else if msg != nil {
			return ErrExists
		}
	}
	return nil
}

// add adds a job, unless it is already in the queue.
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

// replaceJob replaces the message in which a job was delivered. Until a time in the future the job waits. ErrExists:
// the job has another message by now.
func (q *Queue) replaceJob(ctx context.Context, e *envelope, sequence uint64, until time.Time) error {
	class, err := q.route(ctx, e)
	if err != nil {
		return err
	}
	j, err := e.stored(class)
	if err != nil {
		return err
	}
	return q.store.Replace(ctx, j, sequence, until)
}

// Retry submits the job of a dead letter again, without its history. It removes a Deadline that has passed. The error
// is [ErrNotFound] if there is no such dead letter, and [ErrExists] if the worker that failed does not release the
// job within 10 s. If Failure.SideEffects is set, a person should decide to retry.
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
	// This order loses nothing if it is interrupted: while the result exists, the job can be retried, and a worker
	// that takes the job removes the result.
	if err := q.store.Unmark(ctx, key); err != nil {
		return err
	}
	if err := q.addAgain(ctx, &e); err != nil {
		return err
	}
	return q.store.RemoveResult(ctx, msg)
}

// leaveLimit bounds how long Retry waits for the failed worker to release the job, because the worker stores the
// result first.
const leaveLimit = 10 * time.Second

// addAgain adds the job of a dead letter, unless an earlier Retry has added it. The message of its last delivery may
// still exist for a moment.
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
		return fmt.Errorf("%w: its worker has not released it yet", ErrExists)
	}, backoff.WithContext(pause, ctx))
}

// replaced returns the sequence of the failed result that a job in the queue replaces; zero if there is none.
func (q *Queue) replaced(ctx context.Context, key string) (sequence uint64, err error) {
	msg, err := q.store.LastJob(ctx, key)
	if err != nil || msg == nil {
		return 0, err
	}
	var job struct{ Replaces uint64 }
	err = q.store.Read(ctx, msg.Header, msg.Data, &job)
	return job.Replaces, err
}

// Drop removes a dead letter or a waiting job. The error is [ErrNotFound] if there is neither. A job that is running
// continues, and gets a result.
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
