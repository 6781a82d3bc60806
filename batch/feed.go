package batch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// feed reads the input and submits its lines, no more than there is room for.
func (r *run) feed(ctx context.Context) {
	lines := 0
	if err := r.in.ready(); err != nil {
		r.stop(err)
		return
	}
	r.tally.change(func(c *Counts) { c.Format = r.in.format })
	err := r.cfg.read(ctx, r.in, r.ids, func(line rawLine, item *item, mistake error) error {
		lines++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case mistake != nil:
			return r.refuse(line, mistake)
		}
		r.tellUnused(line, item)
		r.order.see(item.job.ID)
		switch {
		case item.done && !(item.changed && r.changed(item)):
			return nil
		}
		return r.submit(ctx, line, item)
	})
	if ctx.Err() != nil {
		return // whoever ended it says why
	}
	if err != nil {
		r.stop(err)
		return
	}
	r.tally.change(func(c *Counts) { c.Total = lines })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fed = true
	r.finishIfDone()
}

// tellUnused says once which values of lines have no effect.
func (r *run) tellUnused(line rawLine, item *item) {
	if item.extra {
		r.notices.once("extra",
			"line %d: fields that are no part of a request are kept as metadata of its response", line.number)
	}
	for _, name := range item.ignored {
		r.notices.once("ignored "+name, "warning: %s has no effect: CLIs have no such setting", name)
	}
}

// finishIfDone ends the run when every line has its record. The caller holds mu.
func (r *run) finishIfDone() {
	if r.fed && r.ids.waits() == 0 {
		r.stop(errFinished)
	}
}

func (r *run) refuse(line rawLine, mistake error) error {
	r.tally.change(func(c *Counts) { c.Bad++ })
	return r.bad.add(line, mistake)
}

// submit gives a job to the queue. What the queue has already, of a run before, is waited for or taken.
func (r *run) submit(ctx context.Context, line rawLine, item *item) error {
	if c := r.tally.now(); r.tooDear(&c) {
		r.drain(ErrCost)
		return ErrCost
	}
	select {
	case r.room <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	job := item.job
	id := job.ID
	r.mu.Lock()
	r.ids.wait(id, item.asked)
	r.order.add(id)
	r.mu.Unlock()
	job.ID, job.Trace = r.store.outside(id), r.cfg.Trace
	err := r.insist(ctx, func() error { return r.store.queue.Submit(ctx, job) })
	if refused, ok := errors.AsType[*clichain.BackendError](err); ok {
		r.ids.forgo(id)
		<-r.room
		return cmp.Or(r.skip(id), r.refuse(line, errors.New(said(refused))))
	}
	if !errors.Is(err, jetstream.ErrExists) {
		return r.store.explain(err)
	}
	return r.takeKept(ctx, item, job)
}

// skip has no record wait for a line that has none.
func (r *run) skip(id string) error {
	if r.order == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order.drop(id)
	return r.writeReady(false)
}

// takeKept takes the result of a run before, if there is one.
func (r *run) takeKept(ctx context.Context, item *item, job jetstream.Job) error {
	var kept *jetstream.Result
	err := r.insist(ctx, func() (err error) {
		kept, err = r.store.queue.Result(ctx, job.ID)
		return err
	})
	if errors.Is(err, jetstream.ErrPending) || errors.Is(err, jetstream.ErrNotFound) {
		return nil
	}
	if err != nil {
		return r.store.explain(err)
	}
	if r.cfg.Changed {
		seen := *kept
		if takeDigest(&seen).differs(item.asked) {
			return r.store.explain(r.resubmit(ctx, job, kept))
		}
	}
	return r.recordOrRetry(kept)
}

const (
	// patience is how long a server elsewhere may be out of reach.
	patience = 5 * time.Minute
	maxPause = 10 * time.Second
)

// insist does something again that a server elsewhere does not do now. An answer is an answer.
func (r *run) insist(ctx context.Context, do func() error) error {
	pause := 100 * time.Millisecond
	for end := time.Now().Add(patience); ; {
		err := do()
		_, refused := errors.AsType[*clichain.BackendError](err)
		switch {
		case err == nil, refused, errors.Is(err, jetstream.ErrExists), errors.Is(err, jetstream.ErrNotFound),
			errors.Is(err, jetstream.ErrPending), !r.cfg.remote(), time.Now().After(end):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}
