package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// useSlot makes a delivery keep a slot of its owner until its end. A nil slot does nothing.
func (w *worker) useSlot(d *delivery, slot *store.Slot) {
	if slot == nil {
		return
	}
	d.slot = slot
	owner := d.Owner
	extend := func() { w.limiter.extend(owner, slot) }
	d.lease.slot.Store(&extend)
}

// awaitOwner returns a job to the queue if a limit of its owner does not allow it now. This is only the case for the
// jobs of a shared consumer, and after a change of the limits: allow has checked the other ones.
func (w *worker) awaitOwner(ctx context.Context, d *delivery) (waits bool, err error) {
	if d.slot != nil {
		return false, nil
	}
	all, err := w.q.limits.get(ctx, w.q.Limits)
	if err != nil {
		return false, err
	}
	limits, next := all.Of(d.Owner), d.envelope
	if c := w.q.consumers.Get(d.class, d.group()); c != nil && c.Owner == AnyOwner {
		if next.Priority = limits.highest(d.priority()); next.Priority != d.priority() {
			why := fmt.Sprintf("%s may use at most the priority %s", ownerText(d.Owner), next.Priority)
			w.requeue(d, next, w.ownerDelivery(why, time.Time{}), time.Time{})
			return true, nil
		}
	}
	until, why, err := w.ownerPause(ctx, d, limits)
	if err != nil || until.IsZero() {
		return false, err
	}
	w.requeue(d, next, w.ownerDelivery(why, until), until)
	return true, nil
}

func (w *worker) ownerDelivery(why string, until time.Time) Delivery {
	return Delivery{
		Worker: w.Name, Ended: time.Now().UTC(), Reason: clichain.ReasonUsageLimit, Message: why, Until: until,
	}
}

// maxOwnerPause bounds how long a returned job waits, because an operator may change the limits.
const maxOwnerPause = time.Minute

// ownerPause takes a slot for a job. If there is none, or the day of the owner is used up, it returns how long to wait.
func (w *worker) ownerPause(ctx context.Context, d *delivery, l OwnerLimits) (until time.Time, why string, err error) {
	now := time.Now()
	wait, err := w.limiter.wait(ctx, d.Owner, l, now)
	if err != nil {
		return until, "", err
	}
	if wait.until.After(now) {
		return now.Add(min(wait.until.Sub(now), maxOwnerPause)), wait.why, nil
	}
	if l.Running == 0 {
		return until, "", nil
	}
	slots, err := w.q.owners.AcquireSlots(ctx, d.Owner, 1, l.Running, w.q.consumers.AckWait)
	if err != nil {
		return until, "", err
	}
	if len(slots) == 0 {
		return now.Add(w.q.coarsePause), l.full(d.Owner, l.Running), nil
	}
	w.useSlot(d, slots[0])
	return until, "", nil
}

// full says that an owner runs as many jobs as it may.
func (l OwnerLimits) full(owner string, running int) string {
	return fmt.Sprintf("%s runs %d jobs, and may run %d", ownerText(owner), running, l.Running)
}
