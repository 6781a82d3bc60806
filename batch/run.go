package batch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Summary says how a run of a batch ended. A plain value.
type Summary struct {
	Counts
	// Stopped is why it ended before the input did: ErrBudget, ErrCost, ErrNobody or the cause of the caller's context.
	// Nil: every good line has its record.
	Stopped error
	// Strays are processes of CLIs that may still be there, by their backend and process id.
	Strays []string
}

var (
	// ErrBudget: the time of Config.Budget is over.
	ErrBudget = errors.New("the time is over")
	// ErrCost: Config.MaxCostUSD is reached.
	ErrCost = errors.New("the limit for the cost is reached")
	// ErrNobody: no backend can answer before a person has done something, such as to log in.
	ErrNobody = errors.New("no CLI can answer before somebody has done something about it, such as to log in")

	errFinished = errors.New("finished")
)

// run is one run of a batch.
type run struct {
	cfg     *Config
	in      *input
	out     *output
	bad     *badLines
	store   *store
	local   *localBackend // nil: workers elsewhere
	ids     *ledger
	tally   *tally
	notices *notices
	seen    uint64 // up to which of the queue's results collect came

	room  chan struct{}           // one element for each id that waits
	full  chan struct{}           // many records are not on the disk yet
	quiet chan struct{}           // no job of this process runs
	stop  context.CancelCauseFunc // ends all
	drain context.CancelCauseFunc // takes no more

	mu    sync.Mutex
	fed   bool   // all of the input was read
	order *order // nil: records are written as they come
	// superseded are ids with a later record in the output, and how many earlier ones.
	superseded map[hash]int
	unsynced   []string // ids of records that may not be on the disk yet
	running    map[string]bool
	parked     map[string]bool
}

// Run answers the lines of a batch, from where runs before have stopped. An error that is a [*Mistake] came before
// anything was started. After any other the same call goes on.
func Run(ctx context.Context, cfg *Config) (_ *Summary, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &run{
		cfg: cfg, ids: newLedger(), tally: newTally(), superseded: map[hash]int{},
		running: map[string]bool{}, parked: map[string]bool{}, notices: newNotices(cfg.Notice),
		room: make(chan struct{}, cfg.ahead()), full: make(chan struct{}, 1), quiet: make(chan struct{}, 1),
	}
	if cfg.Ordered {
		r.order = newOrder()
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	s := &Summary{}
	s.Stopped, err = r.perform(ctx)
	if r.local != nil {
		s.Strays = r.local.close()
	}
	if closed := r.close(s.Stopped == nil && err == nil); err == nil {
		err = closed
	}
	s.Counts = r.tally.now()
	return s, err
}

// open opens all there is, and reads what is done.
func (r *run) open(ctx context.Context) (err error) {
	if r.in, err = openInput(r.cfg); err != nil {
		return err
	}
	if err = r.openOutput(); err == nil {
		if err = r.openQueue(ctx); err == nil {
			return nil
		}
		_ = r.out.close() // the first error counts
	}
	r.in.close()
	return err
}

func (r *run) openQueue(ctx context.Context) (err error) {
	if r.bad, err = r.cfg.badLines(); err != nil {
		return err
	}
	if r.store, err = openStore(ctx, r.cfg); err != nil {
		_ = r.bad.close(false)
		return err
	}
	if err = r.retryFailed(ctx); err != nil {
		_, _ = r.store.close(false), r.bad.close(false)
	}
	return err
}

func (r *run) close(finished bool) error {
	r.in.close()
	return errors.Join(r.bad.close(finished), r.store.close(finished), r.out.close())
}

// perform runs until all is done, or something ends it.
func (r *run) perform(ctx context.Context) (stopped, err error) {
	life, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	taking, drain := context.WithCancelCause(life)
	defer drain(nil)
	r.stop, r.drain = stop, drain
	if r.cfg.Budget > 0 {
		defer time.AfterFunc(r.cfg.Budget, func() { drain(ErrBudget) }).Stop()
	}
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.tally.now())
	}
	r.noteWorkers(life)
	if !r.cfg.remote() {
		r.local = newLocalBackend(r.cfg, r.hooks(), r.tellCold)
	}
	var tasks sync.WaitGroup
	tasks.Go(func() { r.reportProgress(life) })
	tasks.Go(func() { r.in.count(life, r.tally) })
	tasks.Go(func() { r.settleOften(life) })
	tasks.Go(func() { r.tellWaits(life) })
	tasks.Go(func() { r.drainWhen(life, taking) })
	worked := r.answer(life)
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

// reportEvery is the time between two calls of Config.Progress.
const reportEvery = 200 * time.Millisecond

func (r *run) reportProgress(ctx context.Context) {
	if r.cfg.Progress == nil {
		return
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.cfg.Progress(r.tally.now())
		}
	}
}

// answer has the jobs answered, here or elsewhere, until the channel is closed.
func (r *run) answer(ctx context.Context) (worked <-chan struct{}) {
	work := r.collect
	if !r.cfg.remote() {
		work = r.work
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	return done
}

func (r *run) work(ctx context.Context) {
	if c := r.tally.now(); r.tooDear(&c) {
		r.shut()
	}
	log := slog.New(&alarm{ring: func() { r.checkFolder() }})
	cfg := r.workConfig(log)
	cfg.Chain = r.local.chain
	if err := r.store.queue.Work(ctx, r.local, cfg); err != nil {
		r.stop(r.store.explain(err))
	}
}

// leaveWork waits until no job runs. A worker whose queue cannot write tries for minutes to give its jobs back: then it
// is enough that no CLI runs.
func (r *run) leaveWork(worked <-chan struct{}) {
	tick := time.NewTicker(leaveLimit)
	defer tick.Stop()
	for {
		select {
		case <-worked:
			return
		case <-tick.C:
		}
		if r.local != nil && r.local.inFlight.Load() == 0 && !r.checkFolder() {
			return
		}
	}
}

// checkFolder ends the run where the queue cannot write any more: it would ask CLIs for answers that it cannot keep.
func (r *run) checkFolder() bool {
	err := probe(r.store.folder)
	if err != nil {
		r.stop(err)
	}
	return err == nil
}

// shut has the worker of this process take no more jobs.
func (r *run) shut() {
	if r.local != nil {
		r.local.drained.Store(true)
	}
}

// drainWhen ends the run when no more is taken and nothing runs.
func (r *run) drainWhen(life, taking context.Context) {
	<-taking.Done()
	r.shut()
	if r.local != nil {
		for r.runs() > 0 {
			select {
			case <-r.quiet:
			case <-life.Done():
				return
			}
		}
	}
	r.stop(context.Cause(taking))
}

// leaveLimit bounds the wait for a reader of a stream, which nothing can interrupt.
const leaveLimit = 200 * time.Millisecond

// leaveInput waits until the input is not read any more. Of a stream it may be read until the end of the process.
func (r *run) leaveInput(fed <-chan struct{}) {
	if r.in.file != nil && isRegular(r.in.file.Name()) {
		<-fed
		return
	}
	select {
	case <-fed:
	case <-time.After(leaveLimit):
	}
}

// settleLimit bounds what is done for the queue after the end.
const settleLimit = 30 * time.Second

// conclude puts all on the disk, and says why the run has ended.
func (r *run) conclude(ctx context.Context, cause error) (stopped, err error) {
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer stop()
	if err = r.leaveOrder(); err == nil {
		err = r.tidy(errors.Is(cause, errFinished))
	}
	switch {
	case errors.Is(cause, errFinished):
		if r.cfg.remote() && err == nil {
			r.collectKept(last)
			r.settle(last)
		}
		return nil, err
	case ctx.Err() != nil, errors.Is(cause, ErrBudget), errors.Is(cause, ErrCost),
		errors.Is(cause, ErrNobody):
		if r.cfg.remote() && !r.cfg.resumes() {
			r.store.abandon(r.ids.pending())
		}
		return cause, err
	}
	return nil, cause
}
