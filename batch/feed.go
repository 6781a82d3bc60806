package batch

import (
	"cmp"
	"context"
	"errors"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/input"
	"github.com/clichain/clichain/jetstream"
)

// feeder submits the lines of the input to the queue. It waits while the queue is full.
type feeder struct {
	cfg   *Config
	src   *source
	bad   *badLines
	rec   *recorder
	drain context.CancelCauseFunc // stops the submission of lines
}

// feed reads the whole input. The first error stops the run.
func (f *feeder) feed(ctx context.Context) {
	format, err := f.src.ready()
	if err != nil {
		f.rec.stop(err)
		return
	}
	f.rec.tally.change(func(c *Counts) { c.Format = format })
	lines := 0
	err = f.src.each(ctx, f.rec.ids, func(line input.Line, item *item, reason error) error {
		lines++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f.line(ctx, line, item, reason)
	})
	switch {
	case ctx.Err() != nil: // the cause of ctx is known
	case err != nil:
		f.rec.stop(err)
	default:
		f.rec.tally.change(func(c *Counts) { c.Total = lines })
		f.rec.inputRead()
	}
}

func (f *feeder) line(ctx context.Context, line input.Line, item *item, reason error) error {
	if reason != nil {
		return f.refuse(line, reason)
	}
	f.noteUnused(line, item)
	f.rec.order.see(item.Job.ID)
	if item.done && !(item.changed && f.asksAgain(item)) {
		return nil
	}
	return f.submit(ctx, line, item)
}

// noteUnused reports values of lines that have no effect, once for each name.
func (f *feeder) noteUnused(line input.Line, item *item) {
	if item.Extra {
		f.rec.notices.once("extra",
			"line %d: unknown fields become metadata of the response", line.Number)
	}
	for _, name := range item.Ignored {
		f.rec.notices.once("ignored "+name, "warning: %s has no effect: CLIs have no such setting", name)
	}
}

func (f *feeder) refuse(line input.Line, reason error) error {
	f.rec.tally.change(func(c *Counts) { c.Bad++ })
	return f.bad.add(line, reason)
}

// asksAgain reports whether to retry a line whose record answers a different request.
func (f *feeder) asksAgain(item *item) bool {
	id := item.Job.ID
	if !f.cfg.Changed {
		f.rec.keepOld(id)
		return false
	}
	known, _, _ := f.rec.ids.of(id)
	f.rec.ids.redo(id)
	f.rec.tally.change(func(c *Counts) {
		c.Before--
		if known.state&stateFailed != 0 {
			c.Failed--
		} else {
			c.Answered--
		}
	})
	return true
}

// submit adds a job to the queue. If an earlier run has already submitted the job, submit takes its result or waits
// for it.
func (f *feeder) submit(ctx context.Context, line input.Line, item *item) error {
	if f.rec.costLimitReached() {
		f.drain(ErrCost)
		return ErrCost
	}
	job := item.Job
	id := job.ID
	if err := f.rec.expect(ctx, id, item.asked); err != nil {
		return err
	}
	defer f.rec.submitted()
	job.ID, job.Owner, job.Trace = f.rec.queue.outside(id), f.cfg.Owner, f.cfg.Trace
	err := try(ctx, f.rec.exec, func() error { return f.rec.queue.Submit(ctx, job) })
	if refused, ok := errors.AsType[*clichain.BackendError](err); ok {
		return cmp.Or(f.rec.forgo(id), f.refuse(line, errors.New(input.Message(refused, f.cfg.AdviceText))))
	}
	if !errors.Is(err, jetstream.ErrExists) {
		return err
	}
	return f.takeKept(ctx, item, job)
}

// takeKept takes the result of an earlier run, if the queue has one.
func (f *feeder) takeKept(ctx context.Context, item *item, job jetstream.Job) error {
	var kept *jetstream.Result
	err := try(ctx, f.rec.exec, func() (err error) {
		kept, err = f.rec.queue.Result(ctx, job.ID)
		return err
	})
	if errors.Is(err, jetstream.ErrPending) || errors.Is(err, jetstream.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.cfg.Changed {
		seen := *kept
		if takeDigest(&seen).differs(item.asked) {
			return f.resubmit(ctx, job, kept)
		}
	}
	return f.rec.exec.take(kept)
}

// resubmit replaces the result of an earlier request that has the same id with a new job.
func (f *feeder) resubmit(ctx context.Context, job jetstream.Job, old *jetstream.Result) error {
	drop := f.rec.queue.Forget
	if old.Failure != nil {
		drop = f.rec.queue.Drop
	}
	return try(ctx, f.rec.exec, func() error {
		if err := drop(ctx, job.ID); err != nil && !errors.Is(err, jetstream.ErrNotFound) {
			return err
		}
		return f.rec.queue.Submit(ctx, job)
	})
}
