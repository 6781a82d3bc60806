package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// ErrFinished is the error for a job that already has an answer or has failed.
var ErrFinished = errors.New("jetstream: the job already has a result")

// ErrRunning is the error for a change that is only possible while a job waits.
var ErrRunning = errors.New("jetstream: a worker runs the job")

// errStopped is the cause of the end of a job's context after Cancel.
var errStopped = errors.New("jetstream: an operator canceled the job")

// canceler is the Result.Worker of a canceled job.
const canceler = "operator"

// cancelTries bounds the attempts to cancel a job that changes at the same time.
const cancelTries = 10

// Cancel gives a job that waits or runs a result with the reason canceled. A waiting job leaves the queue. The worker
// of a running job stops it within seconds, and at the latest when it extends the lease. The result is a dead letter,
// so Retry submits the job again. Cancel may be repeated: a canceled job is no error. The error is [ErrFinished] for a
// job that has another result, and [ErrNotFound] for an unknown id.
func (o *Operator) Cancel(ctx context.Context, id string) error {
	key := store.Key(id)
	for range cancelTries {
		msg, err := o.q.store.LastJob(ctx, key)
		if err != nil {
			return err
		}
		if msg == nil {
			return o.finished(ctx, key)
		}
		done, err := o.cancel(ctx, key, msg)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("jetstream: cancel: job %q changes too often", id)
}

// finished returns the error for a job that is not in the queue: nil if it was canceled.
func (o *Operator) finished(ctx context.Context, key string) error {
	msg, err := o.q.store.LastResult(ctx, key)
	switch {
	case err != nil:
		return err
	case msg == nil:
		return ErrNotFound
	case !isCanceled(msg):
		return ErrFinished
	}
	return nil
}

func isCanceled(result *js.RawStreamMsg) bool {
	return store.ReasonOf(result.Header) == clichain.ReasonCanceled
}

// cancel stores the result first, so that an interrupted call leaves a job that is canceled, and that a repetition or
// a worker removes. done is false if the job has changed in the meantime.
func (o *Operator) cancel(ctx context.Context, key string, msg *js.RawStreamMsg) (done bool, err error) {
	e, err := o.read(ctx, msg)
	if errors.Is(err, store.ErrUnreadable) || e.ID == "" {
		return true, o.q.store.RemoveJob(ctx, msg)
	}
	if err != nil && !errors.Is(err, errNewer) {
		return false, err
	}
	if e.Replaces != 0 { // a retry that was interrupted may have left the old result
		if err := jsapi.Remove(ctx, o.q.store.Results, e.Replaces); err != nil {
			return false, err
		}
	}
	if err := o.storeCanceled(ctx, key, &e); err != nil {
		return true, err
	}
	if err := o.announce(key); err != nil {
		return false, err
	}
	running, err := o.isDelivered(ctx, msg)
	if err != nil || running {
		return true, err // its worker removes it
	}
	if err := o.q.store.RemoveJob(ctx, msg); err != nil {
		return false, err
	}
	left, err := o.q.store.LastJob(ctx, key)
	if err != nil || left != nil {
		return false, err
	}
	return true, o.announce(key) // a worker may have received it meanwhile
}

// storeCanceled stores the result of a canceled job. It returns nil if the job is canceled already.
func (o *Operator) storeCanceled(ctx context.Context, key string, e *envelope) error {
	begun, err := o.q.store.Begun(ctx, key)
	if err != nil {
		return err
	}
	r := &Result{
		ID: e.ID, Owner: e.Owner, Worker: canceler, Finished: time.Now().UTC(), History: e.History,
		Failure: &Failure{
			Reason: clichain.ReasonCanceled, Message: "an operator canceled it", SideEffects: begun != nil,
		},
	}
	if e.raw == nil {
		r.Job = &e.Job
	} else {
		r.job = e.rawJob()
	}
	err = o.q.storeResult(ctx, r)
	if !errors.Is(err, ErrExists) {
		return err
	}
	return o.finished(ctx, key)
}

// announce tells the worker of a job to look at it.
func (o *Operator) announce(key string) error {
	return o.q.store.Conn.Publish(o.q.store.Stop(), []byte(key))
}

// Move gives a job that waits another priority. It keeps its id, owner and history. Move may be repeated. The error is
// [ErrRunning] if a worker has the job, [ErrFinished] if it has a result, and [ErrNotFound] for an unknown id. If Move
// is interrupted, the job continues with the old or the new priority.
func (o *Operator) Move(ctx context.Context, id string, to Priority) error {
	if !slices.Contains(priorities, to) {
		return invalid(clichain.ReasonBadOption, "priority", fmt.Sprintf("%q is none of %q", to, priorities))
	}
	key := store.Key(id)
	for range cancelTries {
		msg, err := o.q.store.LastJob(ctx, key)
		if err != nil {
			return err
		}
		if msg == nil {
			if err := o.finished(ctx, key); err != nil {
				return err
			}
			return ErrFinished
		}
		if err = o.move(ctx, key, msg, to); !errors.Is(err, ErrExists) {
			return err
		}
	}
	return fmt.Errorf("jetstream: move: job %q changes too often", id)
}

// move stores the job in its new place as a parked job, for the time of a lease. It is available there once no worker
// can get the old message. If that is not certain, the worker that runs the job prolongs the wait; see worker.look.
func (o *Operator) move(ctx context.Context, key string, msg *js.RawStreamMsg, to Priority) error {
	e, err := o.read(ctx, msg)
	if err != nil {
		return err
	}
	if e.priority() == to {
		return nil
	}
	running, err := o.isDelivered(ctx, msg)
	if err != nil {
		return err
	}
	if running {
		return ErrRunning
	}
	e.Priority = to
	due := store.Due(msg)
	until := due
	if due.IsZero() {
		until = time.Now().Add(o.q.consumers.AckWait)
	}
	if err := o.q.replaceJob(ctx, &e, msg.Sequence, until); err != nil {
		return err
	}
	gone, err := o.removeOld(ctx, msg)
	if err != nil || !gone || !due.IsZero() {
		return err
	}
	return o.release(ctx, key, &e)
}

// removeOld removes an old message of a job. It returns false if a worker has it, or may have received it.
func (o *Operator) removeOld(ctx context.Context, msg *js.RawStreamMsg) (gone bool, err error) {
	running, err := o.isDelivered(ctx, msg)
	if err != nil || running {
		return false, err
	}
	if err := o.q.store.RemoveJob(ctx, msg); err != nil {
		return false, err
	}
	running, err = o.isDelivered(ctx, msg)
	return !running, err
}

// release makes a parked job available.
func (o *Operator) release(ctx context.Context, key string, e *envelope) error {
	parked, err := o.q.store.LastJob(ctx, key)
	if err != nil || parked == nil || store.Due(parked).IsZero() {
		return err
	}
	err = o.q.replaceJob(ctx, e, parked.Sequence, time.Time{})
	if errors.Is(err, ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	return o.q.store.RemoveJob(ctx, parked)
}
