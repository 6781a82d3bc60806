package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// delivery is a job that a worker received.
type delivery struct {
	envelope
	msg        js.Msg
	key        string
	sequence   uint64
	deliveries uint64 // of this message, including this one
	class      string // of the message
	data       []byte // the job as received
	begun      bool   // this worker has set the mark
	moved      bool   // an operator began to move it while it ran
	lease      *lease
	slot       *store.Slot // of the owner; nil: the job needs none
}

// handle processes one delivery. ctx ends when the job must return to the queue. slot is the slot of the owner that was
// taken for it, or nil.
func (w *worker) handle(ctx context.Context, m js.Msg, slot *store.Slot) {
	lease := startLease(m, w.q.store.Conn, w.q.consumers.AckWait/3)
	d, err := w.receive(m)
	if d == nil {
		d = &delivery{msg: m}
	}
	d.lease = lease
	w.useSlot(d, slot)
	defer func() {
		lease.stop()
		w.limiter.release(d.Owner, d.slot)
	}()
	if errors.Is(err, errNewer) {
		w.Logger.WarnContext(ctx, "a job is left to a worker of a later version", "id", d.ID, "error", err)
		if err = w.leaveToNewer(d); err == nil {
			return
		}
	}
	if errors.Is(err, store.ErrUnreadable) {
		failure := &Failure{Reason: clichain.ReasonBadRequest, Message: err.Error()}
		w.finish(d, &Result{Failure: failure, Raw: d.data})
		return
	}
	settled, failure := false, (*Failure)(nil)
	if err == nil {
		settled, err = w.settled(d)
	}
	allowed, declined := clichain.Request{}, error(nil)
	if err == nil && !settled {
		allowed, declined = w.Permissions.Apply(d.Request)
	}
	waits := false
	if err == nil && !settled && declined == nil {
		waits, err = w.awaitOwner(ctx, d)
	}
	if err == nil && !settled && declined == nil && !waits {
		failure, err = w.reject(d)
	}
	switch {
	case err != nil:
		w.Logger.InfoContext(ctx, "a job is postponed", "subject", m.Subject(), "error", err)
		_ = m.NakWithDelay(w.q.consumers.AckWait) // if this fails, the server delivers the job again after AckWait
	case waits:
	case settled:
		w.acknowledge(d)
	case declined != nil:
		w.refusePermission(ctx, d, declined)
	case failure != nil:
		w.finish(d, &Result{Failure: failure})
	case ctx.Err() != nil:
		w.postpone(d, Delivery{Reason: clichain.ReasonCanceled, Message: "the worker ended before the job began"})
	default:
		w.answer(ctx, d, allowed)
	}
}

// receive reads a job, and adds to its history the deliveries whose workers did not respond.
func (w *worker) receive(m js.Msg) (*delivery, error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	d := &delivery{msg: m, sequence: meta.Sequence.Stream, deliveries: meta.NumDelivered}
	class, group, _ := w.q.store.Place(m.Subject())
	d.class = class
	if err = w.q.store.CheckOrigin(m); err == nil {
		d.data, err = w.q.store.Content(w.write.ctx, m.Headers(), m.Data())
	}
	if err == nil {
		err = d.decode(d.data, w.q.protocol)
	}
	d.belongTo(group)
	if d.ID == "" {
		d.ID = "unreadable " + m.Subject()
	}
	if err != nil {
		return d, err
	}
	d.key = store.Key(d.ID)
	for range min(meta.NumDelivered-1, maxHistory) {
		d.History = append(d.History, Delivery{
			Reason:  clichain.ReasonKilled,
			Message: fmt.Sprintf("its worker gave no sign for %v: it has ended or lost its connection", w.q.consumers.AckWait),
		})
	}
	return d, nil
}

// settled reports whether nothing is left to do for a message: its job has a result, or another message of the job is
// in the queue.
func (w *worker) settled(d *delivery) (bool, error) {
	if d.Replaces != 0 {
		if err := jsapi.Remove(w.write.ctx, w.q.store.Results, d.Replaces); err != nil {
			return false, err
		}
	}
	scheduled := store.WasScheduled(d.msg)
	if d.deliveries > 1 || scheduled {
		newest, err := w.q.store.LastJob(w.write.ctx, d.key)
		if err != nil {
			return false, err
		}
		if newest == nil || newest.Sequence != d.sequence {
			return true, nil
		}
	}
	// Also at the first delivery: a Submit of the same ID may have added the job after it left the queue. An operator who
	// canceled the job may have been interrupted.
	result, err := w.q.store.LastResult(w.write.ctx, d.key)
	if err != nil || result != nil || !scheduled {
		return result != nil, err
	}
	return w.settledMove(d)
}

// reject returns why a job must not run: its deadline has passed, it had too many deliveries, or it may have acted
// already. It returns an error if this cannot be determined now.
func (w *worker) reject(d *delivery) (*Failure, error) {
	if !d.Deadline.IsZero() && time.Now().After(d.Deadline) {
		return &Failure{
			Reason:  clichain.ReasonTimeout,
			Message: "its deadline of " + d.Deadline.Format(time.RFC3339) + " passed before the job began",
		}, nil
	}
	if d.mayAct() {
		if failure, err := w.begin(d); failure != nil || err != nil {
			return failure, err
		}
	}
	if w.spent(d.History) {
		n, lost := failures(d.History), d.History[len(d.History)-1]
		return &Failure{
			Reason: lost.Reason, Message: fmt.Sprintf("%d deliveries have failed, the last of them: %s", n, lost.Message),
		}, nil
	}
	return nil, nil
}

// spent reports whether a job had as many deliveries as allowed.
func (w *worker) spent(history []Delivery) bool {
	return failures(history) >= w.q.cfg.MaxDeliver || len(history) >= maxHistory
}

// maxWaits bounds how often a job waits for a worker that began it and is still alive.
const maxWaits = 10

// begin marks a job that may change something, unless a worker has marked it before. It sets no mark for a job that
// works in a copy.
func (w *worker) begin(d *delivery) (*Failure, error) {
	mark := store.Mark{Worker: w.Name, At: time.Now().UTC(), ID: nuid.Next()}
	isolated := w.Isolated && d.isolable()
	var earlier *store.Mark
	err := w.write.retry(func(ctx context.Context) (err error) {
		if isolated {
			earlier, err = w.q.store.Begun(ctx, d.key)
		} else {
			earlier, err = w.q.store.Begin(ctx, d.key, mark)
		}
		return err
	})
	if err != nil || earlier == nil {
		d.begun = err == nil && !isolated
		return nil, err
	}
	if d.deliveries <= maxWaits && w.q.isAlive(w.write.ctx, earlier.Worker) {
		return nil, fmt.Errorf("worker %s is still running it", earlier.Worker)
	}
	return &Failure{
		Reason: clichain.ReasonKilled, SideEffects: true,
		Message: fmt.Sprintf("worker %s began it at %s and did not finish it: it may have changed something",
			earlier.Worker, earlier.At.Format(time.RFC3339)),
	}, nil
}

// answer runs the job with the allowed request. The result has the job as received.
func (w *worker) answer(ctx context.Context, d *delivery, allowed clichain.Request) {
	w.OnStart(&d.Job)
	defer w.OnEnd(&d.Job)
	run, unwatch := w.watch(w.Context(ctx, &d.Job), d)
	cancel := context.CancelFunc(func() {})
	if !d.Deadline.IsZero() {
		run, cancel = context.WithDeadline(run, d.Deadline)
	}
	resp, err := w.backend.Complete(run, allowed)
	stopped := errors.Is(context.Cause(run), errStopped)
	cancel()
	unwatch()
	if err == nil {
		w.limiter.spend(d, resp.TotalUsage())
		w.finish(d, &Result{Response: resp})
		return
	}
	w.ready.Forget()
	state := w.ready.Of(ctx, d.envelope.class(), d.envelope.needs()) // before a user clears the cooldown
	chain, _ := errors.AsType[*clichain.ChainError](err)
	if chain != nil {
		w.limiter.spend(d, chain.Usage())
	}
	if stopped {
		w.stopped(d)
		return
	}
	failure := failureOf(err)
	if ctx.Err() == nil && w.lacksNeeds(d, chain) {
		w.refuse(ctx, d, Delivery{Reason: failure.Reason, Message: firstDetail(chain)})
		return
	}
	again, reason := redelivery(d, failure, err, ctx.Err() != nil, time.Now(), func() bool {
		return w.otherMay(d.envelope.class(), d.Deadline)
	})
	if again == nil {
		failure.Message += reason
		w.finish(d, &Result{Failure: failure})
		return
	}
	w.redeliver(d, failure, *again, state)
}

// finish stores the result, and then removes the job from the queue.
func (w *worker) finish(d *delivery, r *Result) {
	r.ID, r.Owner, r.Worker, r.Finished, r.History = d.ID, d.Owner, w.Name, time.Now().UTC(), d.History
	if r.Failure != nil && len(d.Request.Messages) > 0 { // or it is unreadable
		r.Job = &d.Job
	}
	err := w.results.store(spooledResult{r, d.sequence, d.mayAct()}, d.lease.hold)
	if errors.Is(err, errSpooled) {
		w.Logger.WarnContext(w.write.ctx, "the next worker here stores the result", "id", d.ID, "error", err)
		return
	}
	if err != nil && !errors.Is(err, ErrExists) {
		w.Logger.ErrorContext(w.write.ctx, "cannot store a result", "id", d.ID, "error", err)
		return
	}
	if d.mayAct() {
		// Before the job leaves the queue, because a retry may set a new mark after that.
		w.unmark(d)
	}
	w.acknowledge(d)
	if d.moved {
		w.forgetMoved(d)
	}
	if err == nil {
		w.OnResult(r)
	}
}

// unmark removes the mark of a job.
func (w *worker) unmark(d *delivery) {
	if err := w.write.retry(func(ctx context.Context) error { return w.q.store.Unmark(ctx, d.key) }); err != nil {
		w.Logger.WarnContext(w.write.ctx, "cannot remove the mark of a job", "id", d.ID, "error", err)
	}
}

// acknowledge removes the message from the queue. If that fails, the server delivers it again, and settled finds its
// result.
func (w *worker) acknowledge(d *delivery) {
	err := w.write.retry(d.msg.DoubleAck)
	if err == nil {
		err = w.q.store.Discard(w.write.ctx, d.msg.Headers())
	}
	if err != nil {
		w.Logger.WarnContext(w.write.ctx, "cannot acknowledge a job", "id", d.ID, "error", err)
	}
}
