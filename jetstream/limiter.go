package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nuid"
)

// limiter keeps the limits of owners for one worker. Each job of an owner with a limit of running jobs needs a slot of
// the owner, which the worker takes before it asks for the job.
type limiter struct {
	w      *worker
	limits *Limits // as of the last begin

	mu      sync.Mutex
	refused map[string]time.Time     // until when an owner gets no slot
	waits   map[string]ownerWait     // by owner
	free    map[string][]*store.Slot // slots for jobs that the server has not delivered yet
}

// ownerWait says until when the jobs of an owner wait, as of a time.
type ownerWait struct {
	until time.Time
	why   string
	at    time.Time
}

func newLimiter(w *worker) *limiter {
	return &limiter{
		w: w, refused: map[string]time.Time{}, waits: map[string]ownerWait{}, free: map[string][]*store.Slot{},
	}
}

// begin reads the limits before jobs are taken.
func (l *limiter) begin(ctx context.Context) (err error) {
	l.limits, err = l.w.q.limits.get(ctx, l.w.q.Limits)
	return err
}

// priority returns the priority that counts for the jobs of a consumer.
func (l *limiter) priority(c *classes.Consumer) string {
	if c.Owner == store.AnyOwner {
		return c.Priority
	}
	return string(l.limits.Of(c.Owner).highest(Priority(c.Priority)))
}

// allow returns how many of n jobs of a consumer the worker may take, and takes slots for them. The owners of a shared
// consumer are not known before its jobs; see admit.
func (l *limiter) allow(ctx context.Context, c *classes.Consumer, n int) (int, error) {
	limits := l.limits.Of(c.Owner)
	if c.Owner == store.AnyOwner || limits.Running == 0 && !limits.daily() {
		return n, nil
	}
	now := time.Now()
	l.mu.Lock()
	refused := l.refused[c.Owner].After(now)
	l.mu.Unlock()
	if refused {
		return 0, nil
	}
	info, err := c.Info(ctx)
	if err != nil {
		return 0, err
	}
	if info.NumPending == 0 && info.NumAckPending == 0 {
		return 0, classes.ErrNoJobs
	}
	if wait, err := l.wait(ctx, c.Owner, limits, now); err != nil || wait.until.After(now) {
		return 0, err
	}
	if limits.Running == 0 {
		return n, nil
	}
	return l.acquire(ctx, c.Owner, n, limits.Running)
}

// wait returns until when the jobs of an owner wait because its day is used up.
func (l *limiter) wait(ctx context.Context, owner string, limits OwnerLimits, now time.Time) (ownerWait, error) {
	l.mu.Lock()
	known := l.waits[owner]
	l.mu.Unlock()
	if now.Sub(known.at) < limitAge || !limits.daily() {
		return known, nil
	}
	used, err := usedOn(ctx, l.w.q.owners, owner, now)
	if err != nil {
		return known, err
	}
	fresh := ownerWait{at: now}
	fresh.until, fresh.why = limits.exceeded(owner, used, now)
	l.mu.Lock()
	l.waits[owner] = fresh
	l.mu.Unlock()
	return fresh, nil
}

// acquire takes slots for up to n jobs of an owner.
func (l *limiter) acquire(ctx context.Context, owner string, n, limit int) (int, error) {
	slots, err := l.w.q.owners.AcquireSlots(ctx, owner, n, limit, l.w.q.consumers.AckWait)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free[owner] = append(l.free[owner], slots...)
	if len(slots) < n {
		l.refused[owner] = time.Now().Add(limitAge)
	}
	return len(slots), err
}

// slot returns a slot for a job of an owner that the server has delivered; nil if there is none.
func (l *limiter) slot(owner string) *store.Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	slots := l.free[owner]
	if len(slots) == 0 {
		return nil
	}
	l.free[owner] = slots[1:]
	return slots[0]
}

// end returns the slots that no job needs.
func (l *limiter) end() {
	l.mu.Lock()
	unused := l.free
	l.free = map[string][]*store.Slot{}
	l.mu.Unlock()
	for owner, slots := range unused {
		for _, s := range slots {
			l.release(owner, s)
		}
	}
}

func (l *limiter) release(owner string, s *store.Slot) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.w.write.ctx, writeLimit)
	defer cancel()
	if err := l.w.q.owners.ReleaseSlot(ctx, s); err != nil {
		l.w.Logger.WarnContext(ctx, "a slot of an owner is free only after a while", "owner", owner, "error", err)
	}
	l.mu.Lock()
	delete(l.refused, owner)
	l.mu.Unlock()
}

// extend keeps the slot of a running job.
func (l *limiter) extend(owner string, s *store.Slot) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.w.write.ctx, l.w.q.consumers.AckWait/3)
	defer cancel()
	if err := l.w.q.owners.ExtendSlot(ctx, s); err != nil {
		l.w.Logger.WarnContext(ctx, "cannot extend the slot of an owner", "owner", owner, "error", err)
	}
}

// spend adds the usage of one run to the day of the owner. A run counts when it ends, also if it failed.
func (l *limiter) spend(d *delivery, used clichain.Usage) {
	all, err := l.w.q.limits.get(l.w.write.ctx, l.w.q.Limits)
	if err != nil || !all.Of(d.Owner).daily() {
		return
	}
	day, id := dayOf(time.Now()), nuid.Next()
	sums := map[string]int64{unitTokens: used.InputTokens + used.OutputTokens}
	if used.CostUSD != nil {
		sums[unitCost] = microUSD(*used.CostUSD)
	}
	for unit, n := range sums {
		if n <= 0 {
			continue
		}
		err = errors.Join(err, l.w.write.retryFor(spendLimit, func(ctx context.Context) error {
			return l.w.q.owners.AddToSum(ctx, d.Owner, day, unit, n, id)
		}))
	}
	if err != nil {
		l.w.Logger.ErrorContext(l.w.write.ctx, "the usage of a job is missing in the sum of its owner", "owner", d.Owner,
			"id", d.ID, "error", err)
	}
	l.mu.Lock()
	delete(l.waits, d.Owner)
	l.mu.Unlock()
}

// spendLimit bounds how long a result waits for the sums of its owner.
const spendLimit = 30 * time.Second

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
