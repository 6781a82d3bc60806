package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	js "github.com/nats-io/nats.go/jetstream"
)

// notHere are the reasons for which a backend is skipped although another worker may have one that is not.
var notHere = []clichain.Reason{
	clichain.ReasonUnsupported, clichain.ReasonModelMismatch, clichain.ReasonNotInstalled, clichain.ReasonSuppressed,
	clichain.ReasonUnauthenticated, clichain.ReasonNestedSession, clichain.ReasonUntrustedDir, clichain.ReasonBadSession,
}

// ofRequest are those of them that lie in this one request: the next job of the class may be another matter.
var ofRequest = []clichain.Reason{clichain.ReasonUnsupported, clichain.ReasonUntrustedDir, clichain.ReasonBadSession}

// cannotRun reports whether nothing was run, because this worker lacks what the job needs. A session that its own
// backend does not know is the request's fault, unless another worker may know it.
func (w *worker) cannotRun(d *delivery, chain *clichain.ChainError) bool {
	if w.Alone || chain == nil || chain.Tried() || len(chain.Attempts) == 0 {
		return false
	}
	if chain.Reason() == clichain.ReasonBadSession {
		next := d.envelope
		next.Refined, next.Again = true, againRefused
		return w.anotherMay(next.class(), time.Now()) || !slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
			return a.Backend == backendOf(d.Request.Session)
		})
	}
	return !slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
		return !slices.Contains(notHere, a.Reason)
	})
}

// anotherMay reports whether another connected worker may take jobs of a class before a time.
func (w *worker) anotherMay(class string, before time.Time) bool {
	workers, err := w.q.workerList(w.writing)
	return err == nil && slices.ContainsFunc(workers, func(other WorkerStatus) bool {
		at, refusal := other.outlook(class)
		return other.Alive && other.Name != w.Name && refusal == "" && at.Before(before)
	})
}

// handBack leaves a job that was not run to another worker: in its class, which this worker takes no more jobs of for a
// while, or in that of its finer needs where the reason is one of the request.
func (w *worker) handBack(ctx context.Context, d *delivery, why Delivery) {
	next, until := d.envelope, time.Now().Add(denyFor)
	if d.class == readyClass || why.Reason == clichain.ReasonPermissionRefused || slices.Contains(ofRequest, why.Reason) {
		next.Refined = true
	}
	n := next.needs()
	if class := n.class(); next.Refined && class != d.class && w.outlook(ctx, class, n).why != "" {
		w.giveBack(d, next, why) // the needs say it all
		return
	}
	if slices.Contains(ofRequest, why.Reason) || why.Reason == clichain.ReasonPermissionRefused {
		next.Again = againRefused
	}
	w.deny(next.needs().class(), outlook{until: until, why: why.Message})
	w.giveBack(d, next, why)
}

// awaitLimit leaves a job that met a limit where the first worker takes it that can. A worker whose backends are in
// cooldown knows when; one that is not, though the job met a limit, waits for the end of that.
// met is what the worker could do when the job failed.
func (w *worker) awaitLimit(d *delivery, f *Failure, why Delivery, met outlook) {
	next := d.envelope
	if slices.ContainsFunc(f.Attempts, func(a clichain.Attempt) bool { return !a.Skipped }) { // else nothing was run
		next.History = append(slices.Clone(next.History), why)
	}
	if met.now(time.Now()) {
		next.Again = againLimit
		w.denyFirst(next.needs().class(), outlook{until: why.Until, cooling: met.cooling})
	}
	w.giveBack(d, next, why)
}

// decline leaves a job that asks for more than jobs may do here to another worker.
func (w *worker) decline(ctx context.Context, d *delivery, why error) {
	message := fmt.Sprintf("worker %s does not run it: %v", w.Name, why)
	if w.Alone {
		w.finish(d, &Result{Failure: &Failure{Reason: clichain.ReasonPermissionRefused, Message: message}})
		return
	}
	w.handBack(ctx, d, Delivery{Reason: clichain.ReasonPermissionRefused, Message: message})
}

// retry gives a job back, unless it had as many deliveries as it may have.
func (w *worker) retry(d *delivery, failure *Failure, again Delivery, met outlook) {
	again.Worker, again.Ended = w.Name, time.Now().UTC()
	switch {
	case w.spent(append(d.History, again)):
		failure.Message += fmt.Sprintf(" (after %d deliveries)", len(d.History)+1)
		w.finish(d, &Result{Failure: failure})
	case slices.Contains(limits, again.Reason) && !again.Until.IsZero():
		w.awaitLimit(d, failure, again, met)
	default:
		w.park(d, again)
	}
}

// park gives the job back to the queue, until a time.
func (w *worker) park(d *delivery, why Delivery) {
	next := d.envelope
	next.History = append(slices.Clone(next.History), why)
	w.giveBackAt(d, next, why, why.Until)
}

// giveBack puts the job where the first worker takes it that can.
func (w *worker) giveBack(d *delivery, next envelope, why Delivery) {
	w.giveBackAt(d, next, why, time.Time{})
}

func (w *worker) giveBackAt(d *delivery, next envelope, why Delivery, until time.Time) {
	if d.begun {
		// Taken back first: a job whose mark is there is not run again.
		if err := w.insist(func(ctx context.Context) error { return w.q.unmark(ctx, d.key) }); err != nil {
			w.Logger.WarnContext(w.writing, "the mark of a job stays", "id", d.ID, "error", err)
		}
	}
	next.Replaces = 0
	if class, err := w.q.route(w.writing, &next); until.IsZero() && err == nil && class != next.class() {
		until = time.Now().Add(w.q.coarsePause)
	}
	err := w.insist(func(ctx context.Context) error { return w.q.postpone(ctx, next, d.sequence, until) })
	if err != nil && !errors.Is(err, ErrExists) {
		w.Logger.WarnContext(w.writing, "a job cannot be given back: it comes again by itself", "id", d.ID, "error", err)
		return
	}
	w.acknowledge(d)
	w.change()
	if err == nil {
		w.OnPark(&d.Job, why)
	}
}

// unpark puts the jobs that wait for the end of a limit where the first worker takes them that can. Workers of the
// first protocol put them off until that time.
func (q *Queue) unpark(ctx context.Context) error {
	sequence := uint64(1)
	for ctx.Err() == nil {
		msg, err := q.jobs.GetMsg(ctx, sequence, js.WithGetMsgSubject(q.subject("job.later.>")))
		if errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		sequence = msg.Sequence + 1
		data, err := q.content(ctx, msg.Header, msg.Data)
		var e envelope
		if err != nil || e.decode(data, q.latest) != nil || len(e.History) == 0 {
			continue // a worker finds out when its time has come
		}
		if why := e.History[len(e.History)-1]; !slices.Contains(limits, why.Reason) || why.Until.IsZero() {
			continue
		}
		err = q.postpone(ctx, e, msg.Sequence, time.Time{})
		if err == nil {
			err = q.discard(ctx, msg.Header)
		}
		if err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}
