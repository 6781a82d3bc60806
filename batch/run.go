package batch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Summary is the result of a run.
type Summary struct {
	Counts
	// Stopped is the reason why the run ended before every line had its record: ErrBudget, ErrCost, ErrNobody or the
	// cause of the caller's context. It is nil if every good line has its record.
	Stopped error
	// Strays names the CLI processes that may still run, by backend and process id.
	Strays []string
}

// run is one run of a batch.
type run struct{ feeder }

// Run answers the lines of a batch that have no record yet. It returns when each good line has its record, when a
// limit of cfg is reached, or when ctx ends. Summary.Stopped contains the reason. The same call resumes the batch
// after a limit, a canceled context or an error. A [*Mistake] with a nil Summary means that no job has started. Do
// not modify cfg during the run. Two runs cannot write the same output at the same time.
func Run(ctx context.Context, cfg *Config) (*Summary, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &run{feeder{cfg: cfg, rec: newRecorder(cfg)}}
	if err := r.open(ctx); err != nil {
		return nil, asMistake(err)
	}
	s := &Summary{}
	stopped, err := r.perform(ctx)
	s.Stopped, s.Strays = stopped, r.rec.exec.close()
	if closed := r.close(stopped == nil && err == nil); err == nil {
		err = closed
	}
	s.Counts = r.rec.tally.now()
	return s, asMistake(err)
}

// open opens all files and the queue, and reads the records of earlier runs.
func (r *run) open(ctx context.Context) (err error) {
	if r.src, err = openSource(r.cfg); err != nil {
		return err
	}
	if err = r.rec.openOutput(); err == nil {
		if err = r.openQueue(ctx); err == nil {
			return nil
		}
		_ = r.rec.out.Close() // report the first error
	}
	r.src.Close()
	return err
}

func (r *run) openQueue(ctx context.Context) (err error) {
	if r.bad, err = openBadLines(r.cfg); err != nil {
		return err
	}
	open := openLocal
	if r.cfg.remote() {
		open = openRemote
	}
	if r.rec.exec, err = open(ctx, r.cfg, r.rec); err != nil {
		_ = r.bad.close(false)
		return err
	}
	r.rec.queue = r.rec.exec.jobs()
	if err = r.rec.dropFailed(ctx); err != nil {
		_, _ = r.rec.queue.close(false), r.bad.close(false)
	}
	return err
}

func (r *run) close(finished bool) error {
	r.src.Close()
	return errors.Join(r.bad.close(finished), r.rec.queue.close(finished), r.rec.out.Close())
}

// perform answers lines until every line has its record, or until an error or a limit ends the run.
func (r *run) perform(ctx context.Context) (stopped, err error) {
	life, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	taking, drain := context.WithCancelCause(life)
	defer drain(nil)
	r.rec.stop, r.rec.costReached, r.drain = stop, r.costReached, drain
	if r.cfg.Budget > 0 {
		defer time.AfterFunc(r.cfg.Budget, func() { drain(ErrBudget) }).Stop()
	}
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.rec.tally.now())
	}
	worked := r.rec.exec.start(life)
	var tasks sync.WaitGroup
	tasks.Go(func() { r.rec.reportProgress(life) })
	tasks.Go(func() { r.rec.settleOften(life) })
	tasks.Go(func() { r.rec.reportWaits(life) })
	tasks.Go(func() { r.count(life) })
	tasks.Go(func() { r.drainWhen(life, taking) })
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		r.feed(taking)
	}()
	<-life.Done()
	r.leaveInput(fed)
	tasks.Wait()
	r.leaveWork(worked)
	return r.conclude(ctx, context.Cause(life))
}

// count counts the lines of a file to estimate the remaining time.
func (r *run) count(ctx context.Context) {
	if lines, ok := r.src.Count(ctx); ok {
		r.rec.tally.change(func(c *Counts) { c.Total = lines })
	}
}

// costReached ends the run. It stops the executor from taking the next job even if a slot is free.
func (r *run) costReached() {
	r.rec.exec.refuse()
	r.drain(ErrCost)
}

// drainWhen ends the run after the last line is submitted and no job runs.
func (r *run) drainWhen(life, taking context.Context) {
	<-taking.Done()
	r.rec.exec.refuse()
	r.rec.exec.wait(life)
	r.rec.stop(context.Cause(taking))
}

// leaveLimit is how long to wait for a goroutine that reads a stream, which cannot be interrupted.
const leaveLimit = 200 * time.Millisecond

// leaveInput waits until the feeder returns. It does not wait longer than leaveLimit for a stream, because a blocked
// read may never return.
func (r *run) leaveInput(fed <-chan struct{}) {
	if r.src.IsRegular() {
		<-fed
		return
	}
	select {
	case <-fed:
	case <-time.After(leaveLimit):
	}
}

// leaveWork waits until no job runs. A worker whose queue is not writable retries for minutes to return its jobs. In
// this case, leaveWork only waits until no call to a backend is in flight.
func (r *run) leaveWork(worked <-chan struct{}) {
	tick := time.NewTicker(leaveLimit)
	defer tick.Stop()
	for {
		select {
		case <-worked:
			return
		case <-tick.C:
		}
		if !r.rec.exec.asking() && r.rec.exec.check() != nil {
			return
		}
	}
}

// settleLimit limits the duration of queue operations after the run.
const settleLimit = 30 * time.Second

// conclude commits the output to the disk and returns the reason why the run ended.
func (r *run) conclude(ctx context.Context, cause error) (stopped, err error) {
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer stop()
	finished := errors.Is(cause, errFinished)
	if err = r.rec.writeRest(); err == nil {
		err = r.rec.tidy(finished)
	}
	switch {
	case finished:
		if err == nil {
			r.rec.exec.conclude(last, true)
		}
		return nil, err
	case ctx.Err() != nil, errors.Is(cause, ErrBudget), errors.Is(cause, ErrCost), errors.Is(cause, ErrNobody):
		r.rec.exec.conclude(last, false)
		return cause, err
	}
	return nil, cause
}
