package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// WorkConfig sets how a worker works. The zero value works. The funcs may be nil;
// they are called from several goroutines at once, and hold up their job.
type WorkConfig struct {
	// Slots is how many jobs run at once. Zero: 1.
	Slots int
	// Name is the worker's in Status and History. Each worker of a queue has another.
	// Empty: host, process id and a random part.
	Name string
	// Permissions is what a job may do here: whoever may write to the queue writes jobs.
	// A job that asks for more is left to another worker. Zero: a question with
	// AccessNone.
	Permissions permit.Permissions
	// Chain is asked which jobs the worker can run. Set it where the backend of Work wraps a chain. Nil: the backend of
	// Work, if it is a Chain; any other backend shows only in a call what it cannot run.
	Chain *clichain.Chain
	// Alone says that no other worker will come: a job that this one cannot run fails. Zero: it goes back to the queue.
	Alone bool
	// Grace is how long jobs may go on after ctx has ended. Then they are ended and
	// given back. Zero: not at all.
	Grace time.Duration
	// KeepDir is a folder on this machine for results that the server does not take, such
	// as one with a full store. They are stored when it takes them, also by the next worker
	// with this folder. The worker makes it, with the permissions 0700, when it needs it. Empty:
	// clichain/results in the user's folder for state ($XDG_STATE_HOME, ~/.local/state).
	KeepDir string
	// Logger is told what a worker cannot do and goes on from, such as writing to a
	// server that is gone. Never prompts or answers. Nil: silent.
	Logger *slog.Logger
	// Context makes the context of a job that is about to run, such as from its Trace. Nil:
	// it is that of the worker.
	Context func(ctx context.Context, job *Job) context.Context
	// OnStart: a job runs now. OnPark: it goes back to the queue. OnResult: its
	// result is stored.
	OnStart  func(job *Job)
	OnPark   func(job *Job, d Delivery)
	OnResult func(r *Result)
	// OnEnd: a job for which OnStart was called is no longer in this worker's hands,
	// whatever came of it.
	OnEnd func(job *Job)
	// OnRest: no backend could answer before until, and no jobs are taken. It comes
	// again when that time changes.
	OnRest func(until time.Time)
}

func (c *WorkConfig) withDefaults() (WorkConfig, error) {
	var out WorkConfig
	if c != nil {
		out = *c
	}
	if out.Slots < 0 || out.Grace < 0 {
		return out, fmt.Errorf("jetstream: Slots %d, Grace %v: neither can be below zero", out.Slots, out.Grace)
	}
	out.Slots = cmp.Or(out.Slots, 1)
	if out.Name == "" {
		host, _ := os.Hostname()
		out.Name = fmt.Sprintf("%s-%d-%s", cmp.Or(host, "host"), os.Getpid(), nuid.Next()[18:])
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Context == nil {
		out.Context = func(ctx context.Context, _ *Job) context.Context { return ctx }
	}
	if out.OnStart == nil {
		out.OnStart = func(*Job) {}
	}
	if out.OnPark == nil {
		out.OnPark = func(*Job, Delivery) {}
	}
	if out.OnResult == nil {
		out.OnResult = func(*Result) {}
	}
	if out.OnEnd == nil {
		out.OnEnd = func(*Job) {}
	}
	if out.OnRest == nil {
		out.OnRest = func(time.Time) {}
	}
	return out, nil
}

// readyBackend is a backend that says whether any would be tried, as a chain does.
type readyBackend interface {
	clichain.Backend
	Ready(ctx context.Context) error
}

// worker takes jobs of a queue and has a backend answer them.
type worker struct {
	WorkConfig
	q        *Queue
	backend  readyBackend
	newClass atomic.Bool   // somebody has made one
	slots    chan struct{} // one element for each job that runs
	woken    chan struct{}
	changed  chan struct{} // what the worker can do is another matter now
	since    time.Time
	trouble  string          // why no jobs could be taken, as it was told
	turn     int             // of the classes of one priority
	writing  context.Context // of what is written, which outlives the jobs by lastWrites
	running  context.Context // of the jobs: it outlives that of Work by the grace

	protocol int          // the latest that it runs
	folder   string       // for results that the server does not take; empty: there is none
	unstored atomic.Int64 // how many of them there are

	mu      sync.Mutex
	resting time.Time
	judged  map[string]judgment // by class
	denied  map[string]outlook
	newer   bool // the log has that jobs are left to workers of a later version
}

// Work takes jobs and has the backend answer them, until ctx ends; then it takes no
// more, gives back what is not finished in time, and returns nil. As long as the
// Ready of a Chain says that none of its backends would be tried it takes none. What a
// server does not do now is tried again, and told to the Logger: an error is one of
// cfg.
func (q *Queue) Work(ctx context.Context, b clichain.Backend, cfg *WorkConfig) error {
	c, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	ready, ok := b.(readyBackend)
	if !ok {
		ready = clichain.ChainOf([]clichain.Backend{b}, nil)
	}
	w := &worker{
		WorkConfig: c, q: q, backend: ready, since: time.Now().UTC(),
		slots: make(chan struct{}, c.Slots), woken: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		protocol: q.latest,
		judged:   map[string]judgment{}, denied: map[string]outlook{},
	}
	if chain, ok := ready.(*clichain.Chain); ok && w.Chain == nil {
		w.Chain = chain
	}
	wakes, err := q.nc.Subscribe(q.wake(), func(m *nats.Msg) {
		if len(m.Data) > 0 && q.takers.get(string(m.Data)) == nil {
			w.newClass.Store(true)
		}
		w.wakeUp()
	})
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	defer func() { _ = wakes.Unsubscribe() }()
	if err := q.sweep(ctx, time.Now()); err != nil {
		w.Logger.WarnContext(ctx, "payloads that nobody needs may stay", "error", err)
	}
	if w.folder, err = q.unstoredFolder(c.KeepDir); err != nil {
		w.Logger.WarnContext(ctx, "no folder for results that the server may not take", "error", err)
	}
	w.run(ctx)
	return nil
}

func (w *worker) wakeUp() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// lastWrites bounds how long a worker that ends tries to write what its jobs came to,
// or to give them back.
const lastWrites = 20 * time.Second

func (w *worker) run(ctx context.Context) {
	// Jobs outlive ctx by the grace, and giving them back outlives both.
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	writing, give := context.WithCancel(context.WithoutCancel(ctx))
	defer give()
	w.writing, w.running = writing, running
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		w.present(running)
	}()
	w.storeKept(ctx)
	var jobs sync.WaitGroup
	jobs.Go(func() {
		if err := w.q.unpark(ctx); err != nil && ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "jobs may wait until the end of a limit that is over", "error", err)
		}
	})
	w.take(ctx, func(m js.Msg) {
		w.slots <- struct{}{}
		jobs.Go(func() {
			defer w.wakeUp()
			defer func() { <-w.slots }()
			w.handle(running, m)
		})
	})
	grace := time.AfterFunc(w.Grace, end)
	last := time.AfterFunc(w.Grace+lastWrites, give)
	jobs.Wait()
	grace.Stop()
	last.Stop()
	end()
	<-seen
}

// A worker with nothing to do looks for jobs firstPoll after it was told of one, since
// the server tells its consumers of a new message a moment after it has it; then
// after twice that, and so on. With pollEvery it finds the jobs whose time has come,
// and those that another worker has lost.
const (
	firstPoll = 2 * time.Millisecond
	pollEvery = time.Second
)

// take gives jobs to begin, as many as there are free slots.
func (w *worker) take(ctx context.Context, begin func(js.Msg)) {
	poll := firstPoll
	for ctx.Err() == nil {
		wait := time.Duration(0)
		switch free, until := w.Slots-len(w.slots), w.rest(ctx); {
		case free == 0, w.unstored.Load() > 0:
			wait = pollEvery
		case !until.IsZero() && (w.Alone || w.Chain == nil): // else each class has its own
			wait = min(time.Until(until), lookEvery)
		case w.fetch(ctx, free, begin) == 0:
			wait, poll = poll, min(2*poll, pollEvery)
		default:
			poll = firstPoll
		}
		if wait > 0 && w.await(ctx, wait) {
			poll = firstPoll
		}
	}
}

// await waits until a job was submitted or has ended, or the time is over.
func (w *worker) await(ctx context.Context, wait time.Duration) (woken bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.woken:
		return true
	case <-timer.C:
	}
	return false
}

// maxRest bounds how long a worker relies on what it knew of its backends: somebody
// may have ended a cooldown, or logged in.
const maxRest = 30 * time.Second

// rest is until when no backend could answer; zero where one could.
func (w *worker) rest(ctx context.Context) (until time.Time) {
	failure, _ := errors.AsType[*clichain.ChainError](w.backend.Ready(ctx))
	if failure != nil && failure.Note == "" {
		until = failure.RetryAfter()
		if until.IsZero() {
			until = time.Now().Add(maxRest)
		}
	}
	w.mu.Lock()
	changed := !until.Equal(w.resting) && (until.IsZero() || until.Sub(w.resting).Abs() > maxRest)
	if changed || until.IsZero() {
		w.resting = until
	}
	w.mu.Unlock()
	if changed && !until.IsZero() {
		w.OnRest(until)
	}
	return until
}
