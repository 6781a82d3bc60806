package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/readiness"
	"github.com/clichain/clichain/jetstream/internal/reasons"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// denyTime is how long a worker takes no job of a class after a job that it seemed ready for but could not run.
const denyTime = time.Minute

// lacksNeeds reports whether no backend was run because this worker does not meet the needs of the job. If its own
// backend does not know a session, the request is at fault, unless another worker may know it.
func (w *worker) lacksNeeds(d *delivery, chain *clichain.ChainError) bool {
	if w.Alone || chain == nil || chain.Tried() || len(chain.Attempts) == 0 {
		return false
	}
	if chain.Reason() == clichain.ReasonBadSession {
		next := d.envelope
		next.Refined, next.Again = true, classes.AgainRefused
		return w.otherMay(next.class(), time.Now()) || !slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
			return a.Backend == classes.BackendOf(d.Request.Session)
		})
	}
	return !slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool { return !reasons.OfWorker.Has(a.Reason) })
}

// otherMay reports whether another connected worker may take jobs of a class before a time.
func (w *worker) otherMay(class string, before time.Time) bool {
	workers, err := w.q.workers(w.write.ctx)
	return err == nil && slices.ContainsFunc(workers, func(other WorkerStatus) bool {
		at, refusal := other.takes(class)
		return other.Alive && other.Name != w.Name && refusal == "" && at.Before(before)
	})
}

// refuse leaves a job that was not run to another worker. The job stays in its class, from which this worker takes no
// more jobs for a while. If only this request is the reason, the job moves to the class of its refined needs.
func (w *worker) refuse(ctx context.Context, d *delivery, why Delivery) {
	next, until := d.envelope, time.Now().Add(denyTime)
	if d.class == classes.Ready || reasons.OfRequest.Has(why.Reason) {
		next.Refined = true
	}
	n := next.needs()
	if class := n.Class(); next.Refined && class != d.class && w.ready.Of(ctx, class, n).Why != "" {
		w.requeue(d, next, why, time.Time{}) // the needs have the reason
		return
	}
	if reasons.OfRequest.Has(why.Reason) {
		next.Again = classes.AgainRefused
	}
	w.ready.Deny(next.needs().Class(), readiness.State{Until: until, Why: why.Message})
	w.requeue(d, next, why, time.Time{})
}

// refusePermission leaves a job to another worker if it needs more permissions than this worker grants.
func (w *worker) refusePermission(ctx context.Context, d *delivery, why error) {
	message := fmt.Sprintf("worker %s does not run it: %v", w.Name, why)
	if w.Alone {
		w.finish(d, &Result{Failure: &Failure{Reason: clichain.ReasonPermissionRefused, Message: message}})
		return
	}
	w.refuse(ctx, d, Delivery{Reason: clichain.ReasonPermissionRefused, Message: message})
}

// redeliver returns a job to the queue, unless it had as many deliveries as allowed. state is the state of the worker
// when the job failed.
func (w *worker) redeliver(d *delivery, failure *Failure, again Delivery, state readiness.State) {
	again.Worker, again.Ended = w.Name, time.Now().UTC()
	switch {
	case w.spent(append(d.History, again)):
		failure.Message += fmt.Sprintf(" (after %d deliveries)", len(d.History)+1)
		w.finish(d, &Result{Failure: failure})
	case reasons.Limits.Has(again.Reason) && !again.Until.IsZero():
		w.awaitLimit(d, failure, again, state)
	default:
		w.postpone(d, again)
	}
}

// awaitLimit leaves a job that met a limit to the first worker that can run it. If the worker's own backends are in
// cooldown, it knows the end. Otherwise it waits for the end of the limit that the job met.
func (w *worker) awaitLimit(d *delivery, f *Failure, why Delivery, state readiness.State) {
	next := d.envelope
	if slices.ContainsFunc(f.Attempts, func(a clichain.Attempt) bool { return !a.Skipped }) { // otherwise nothing was run
		next.History = append(slices.Clone(next.History), why)
	}
	if state.Now(time.Now()) {
		next.Again = classes.AgainLimit
		w.ready.DenyLimit(next.needs().Class(), readiness.State{Until: why.Until, Cooling: state.Cooling})
	}
	w.requeue(d, next, why, time.Time{})
}

// postpone returns the job to the queue until a time.
func (w *worker) postpone(d *delivery, why Delivery) {
	next := d.envelope
	next.History = append(slices.Clone(next.History), why)
	w.requeue(d, next, why, why.Until)
}

// requeue returns the job to the queue, for the first worker that can run it, at a time. Zero: now.
func (w *worker) requeue(d *delivery, next envelope, why Delivery, until time.Time) {
	if d.begun { // before the job returns, because a job with a mark is not run again
		w.unmark(d)
	}
	next.Replaces = 0
	if class, err := w.q.route(w.write.ctx, &next); until.IsZero() && err == nil && class != next.class() {
		until = time.Now().Add(w.q.coarsePause)
	}
	err := w.write.retry(func(ctx context.Context) error { return w.q.replaceJob(ctx, &next, d.sequence, until) })
	if err != nil && !errors.Is(err, ErrExists) {
		w.Logger.WarnContext(w.write.ctx, "cannot return a job: the server delivers it again", "id", d.ID, "error", err)
		return
	}
	w.acknowledge(d)
	w.presence.change()
	if err == nil {
		w.OnPark(&d.Job, why)
	}
}

// leaveToNewer leaves a job that this worker knows only in part to workers of a later version, unchanged.
func (w *worker) leaveToNewer(d *delivery) error {
	next := envelope{Protocol: max(d.protocol(), w.q.protocol+1), raw: d.data}
	next.ID, next.Priority, next.Owner = d.ID, d.Priority, d.Owner
	err := w.write.retry(func(ctx context.Context) error {
		return w.q.replaceJob(ctx, &next, d.sequence, time.Time{})
	})
	if err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	w.acknowledge(d)
	w.presence.change()
	return nil
}

// unschedule makes the jobs that wait for the end of a limit available to the first worker that can run them. Workers
// of the first protocol would postpone them until that time.
func (q *Queue) unschedule(ctx context.Context) error {
	for msg, err := range q.store.Scheduled(ctx) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := q.store.Content(ctx, msg.Header, msg.Data)
		var e envelope
		if err != nil || e.decode(data, q.protocol) != nil || len(e.History) == 0 {
			continue // a worker handles it when its time comes
		}
		why := e.History[len(e.History)-1]
		if !reasons.Limits.Has(why.Reason) || store.Due(msg).Sub(why.Until).Abs() > time.Second {
			continue // it waits for another time, for example during a move
		}
		err = q.replaceJob(ctx, &e, msg.Sequence, time.Time{})
		if err != nil && !errors.Is(err, ErrExists) {
			return err
		}
		// Otherwise the server delivers the job again at that time, even if its result has been removed by then. After
		// ErrExists, an interrupted call left this message.
		if err := q.store.RemoveJob(ctx, msg); err != nil {
			return err
		}
	}
	return nil
}
