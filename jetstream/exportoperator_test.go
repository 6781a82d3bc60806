package jetstream

import (
	"context"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// StoreCanceled is the first step of Cancel.
func StoreCanceled(ctx context.Context, q *Queue, id string) error {
	key := store.Key(id)
	msg, err := q.store.LastJob(ctx, key)
	if err != nil {
		return err
	}
	e, err := NewOperator(q).read(ctx, msg)
	if err != nil {
		return err
	}
	return NewOperator(q).storeCanceled(ctx, key, &e)
}

// MoveSteps begins a move, and is interrupted after some of its steps. They are: none, the job has a new message, the old
// message was removed even if a worker has it, and the job was released. between runs after the first step, or before it
// if there is none.
func MoveSteps(ctx context.Context, q *Queue, id string, to Priority, steps int, between func()) error {
	key := store.Key(id)
	msg, err := q.store.LastJob(ctx, key)
	if err != nil || steps == 0 {
		between()
		return err
	}
	e, err := NewOperator(q).read(ctx, msg)
	if err != nil {
		return err
	}
	e.Priority = to
	if err := q.replaceJob(ctx, &e, msg.Sequence, time.Now().Add(q.consumers.AckWait)); err != nil {
		return err
	}
	between()
	if steps == 1 {
		return nil
	}
	running, err := NewOperator(q).isDelivered(ctx, msg)
	if err != nil {
		return err
	}
	if err := q.store.RemoveJob(ctx, msg); err != nil || running || steps == 2 {
		return err
	}
	parked, err := q.store.LastJob(ctx, key)
	if err != nil {
		return err
	}
	return q.replaceJob(ctx, &e, parked.Sequence, time.Time{}) // without its removal
}

// Park adds a job that waits for a time after a failure, as workers of the first protocol do after each limit.
func Park(ctx context.Context, q *Queue, job Job, why clichain.Reason, until time.Time) error {
	e := &envelope{Job: job, Protocol: classes.Protocol, History: []Delivery{{Reason: why, Until: until}}}
	return q.replaceJob(ctx, e, 0, until)
}

// RemoveLater returns a func that removes the current message of a job.
func RemoveLater(ctx context.Context, q *Queue, id string) (remove func() error, err error) {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	return func() error { return q.store.RemoveJob(ctx, msg) }, err
}

// UnscheduleStep is the first step of unschedule for a parked job.
func UnscheduleStep(ctx context.Context, q *Queue, id string) error {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	if err != nil {
		return err
	}
	e, err := NewOperator(q).read(ctx, msg)
	if err != nil {
		return err
	}
	return q.replaceJob(ctx, &e, msg.Sequence, time.Time{})
}
