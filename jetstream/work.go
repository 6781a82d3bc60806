package jetstream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/readiness"
	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// readyBackend is a backend that reports whether any of its backends can be tried, as a chain does.
type readyBackend interface {
	clichain.Backend
	Ready(ctx context.Context) error
}

// worker takes jobs of a queue and has a backend answer them.
type worker struct {
	WorkConfig
	q        *Queue
	backend  readyBackend
	ready    *readiness.Checker
	presence *presence
	write    *writer // its context outlives the jobs by lastWrites
	results  *resultWriter
	limiter  *limiter
	watches  watches
	pauses   pauseView
	since    time.Time
	slots    chan struct{} // one element for each job that runs
	woken    chan struct{}
	newClass atomic.Bool // another client has created a class
	problem  string      // why no jobs could be taken, as logged
	newer    sync.Once   // logs once that jobs are left to workers of a later version

	mu           sync.Mutex
	coolingUntil time.Time
}

// Work takes jobs and lets the backend answer them, until ctx ends. Then it takes no more jobs, returns unfinished
// jobs to the queue after the grace, and returns nil. It takes no jobs while the Ready of a Chain reports that no
// backend can be tried. It logs and retries operations that the server refuses temporarily. It returns an error only
// for an invalid cfg.
func (q *Queue) Work(ctx context.Context, b clichain.Backend, cfg *WorkConfig) error {
	c, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	ready, ok := b.(readyBackend)
	if !ok {
		ready = clichain.ChainOf([]clichain.Backend{b}, nil)
	}
	if chain, ok := ready.(*clichain.Chain); ok && c.Chain == nil {
		c.Chain = chain
	}
	w := &worker{
		WorkConfig: c, q: q, backend: ready, since: time.Now().UTC(),
		ready: readiness.New(readiness.Worker{
			Chain: c.Chain, Permissions: c.Permissions, Alone: c.Alone, Protocol: q.protocol,
		}),
		slots: make(chan struct{}, c.Slots), woken: make(chan struct{}, 1),
		pauses: pauseView{o: NewOperator(q), onChange: c.OnPause},
	}
	w.presence = &presence{
		bucket: q.store.Workers, name: c.Name, log: c.Logger, describe: w.describe, changed: make(chan struct{}, 1),
	}
	w.limiter = newLimiter(w)
	unsubscribe, err := w.subscribe()
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	defer unsubscribe()
	w.run(ctx)
	return nil
}

func (w *worker) wakeUp() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// lastWrites bounds how long a worker that ends retries writing the results of its jobs, or returning the jobs to the
// queue.
const lastWrites = 20 * time.Second

func (w *worker) run(ctx context.Context) {
	// Jobs outlive ctx by the grace. Returning them to the queue outlives both.
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	writing, endWrites := context.WithCancel(context.WithoutCancel(ctx))
	defer endWrites()
	spool, err := w.q.spoolOf(w.KeepDir)
	if err != nil {
		w.Logger.WarnContext(ctx, "no directory for results that the server does not accept", "error", err)
	}
	w.write = &writer{writing, w.Logger}
	w.results = &resultWriter{writer: w.write, q: w.q, spool: spool, running: running, onResult: w.OnResult}
	var reports sync.WaitGroup
	reports.Go(func() { w.presence.run(running) })
	reports.Go(func() { store.Cleaner{Store: w.q.store}.Keep(running, w.Logger) })
	w.results.storeSpooled(ctx)
	var jobs sync.WaitGroup
	jobs.Go(func() {
		if err := w.q.unschedule(ctx); err != nil && ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "cannot release jobs that wait for the end of a limit", "error", err)
		}
	})
	taking, stopTaking := context.WithCancel(ctx)
	defer stopTaking()
	jobs.Go(func() { surplus{w.q, w.Name, w.Logger, w.OnResult}.watch(taking) })
	w.take(ctx, func(m js.Msg) {
		w.slots <- struct{}{}
		_, group, _ := w.q.store.Place(m.Subject())
		slot := w.limiter.slot(group.Owner)
		jobs.Go(func() {
			defer w.wakeUp()
			defer func() { <-w.slots }()
			w.handle(running, m, slot)
		})
	})
	stopTaking() // a worker with Drain returns before ctx ends
	grace := time.AfterFunc(w.Grace, end)
	last := time.AfterFunc(w.Grace+lastWrites, endWrites)
	jobs.Wait()
	grace.Stop()
	last.Stop()
	end()
	reports.Wait()
}

// An idle worker requests jobs firstPoll after it was woken, because the server announces a new message to its
// consumers a moment after storing it. Each further pause is twice as long. With pollEvery it finds scheduled jobs
// that are due, and jobs of workers that died.
const (
	firstPoll = 2 * time.Millisecond
	pollEvery = time.Second
)

// take starts as many jobs as there are free slots.
func (w *worker) take(ctx context.Context, begin func(js.Msg)) {
	poll := firstPoll
	for ctx.Err() == nil && !(w.Drain && w.isIdle(ctx)) {
		wait := time.Duration(0)
		_ = w.pauses.refresh(ctx) // for OnPause, also while all slots run; fetch returns the error
		switch free, until := w.Slots-len(w.slots), w.cooldownEnd(ctx); {
		case free == 0, w.results.unstored.Load() > 0:
			wait = pollEvery
		case !until.IsZero() && (w.Alone || w.Chain == nil): // otherwise each class has its own time
			wait = min(time.Until(until), readiness.MaxAge)
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

// fetch takes jobs of the classes that the worker can run now.
func (w *worker) fetch(ctx context.Context, n int, begin func(js.Msg)) (taken int) {
	age := readiness.MaxAge
	if w.newClass.Swap(false) {
		age = 0
	}
	known := len(w.q.consumers.List())
	err := w.q.consumers.RefreshAfter(ctx, age)
	if err == nil {
		if len(w.q.consumers.List()) != known {
			w.presence.change()
		}
		err = w.pauses.refresh(ctx)
	}
	if err == nil {
		err = w.limiter.begin(ctx)
	}
	if err == nil {
		taken, err = w.q.consumers.Fetch(n, classes.Take{
			Accept:   func(c *classes.Consumer) bool { return !w.pauses.has(c) && w.accepts(ctx, c) },
			Priority: w.limiter.priority,
			Allow:    func(c *classes.Consumer, n int) (int, error) { return w.limiter.allow(ctx, c, n) },
			Begin:    begin,
		})
		w.limiter.end()
	}
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != w.problem && ctx.Err() == nil { // it is logged once
		w.Logger.WarnContext(ctx, "cannot take jobs", "queue", w.q.cfg.Name, "error", err)
	}
	w.problem = problem
	return taken
}

// accepts reports whether the worker takes jobs of a class now.
func (w *worker) accepts(ctx context.Context, c *classes.Consumer) bool {
	state := w.ready.Of(ctx, c.Class, c.Needs)
	if state.Why != "" && c.Needs != nil && c.Needs.Protocol > w.q.protocol {
		w.newer.Do(func() {
			w.Logger.WarnContext(ctx, "jobs are left to workers of a later version", "queue", w.q.cfg.Name,
				"protocol", c.Needs.Protocol, "worker_protocol", w.q.protocol)
		})
	}
	return state.Now(time.Now())
}

// await waits until a job was submitted or has ended, or until the wait is over.
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

// maxCooldownAge bounds how long a worker relies on the known state of its backends: a user may have cleared a
// cooldown or logged in.
const maxCooldownAge = 30 * time.Second

// cooldownEnd returns the time until which all backends are in cooldown; zero if one can answer.
func (w *worker) cooldownEnd(ctx context.Context) (until time.Time) {
	failure, _ := errors.AsType[*clichain.ChainError](w.backend.Ready(ctx))
	if failure != nil && failure.Note == "" {
		until = failure.RetryAfter()
		if until.IsZero() {
			until = time.Now().Add(maxCooldownAge)
		}
	}
	w.mu.Lock()
	changed := !until.Equal(w.coolingUntil) && (until.IsZero() || until.Sub(w.coolingUntil).Abs() > maxCooldownAge)
	if changed || until.IsZero() {
		w.coolingUntil = until
	}
	w.mu.Unlock()
	if changed && !until.IsZero() {
		w.OnRest(until)
	}
	return until
}

// maxRefusal bounds the length in bytes of the reason why a worker does not take a class.
const maxRefusal = 300

// describe returns the report of the worker.
func (w *worker) describe(ctx context.Context) WorkerStatus {
	w.mu.Lock()
	coolingUntil := w.coolingUntil
	w.mu.Unlock()
	s := WorkerStatus{
		Name: w.Name, Slots: w.Slots, Running: len(w.slots), Since: w.since, Seen: time.Now().UTC(),
		RestingUntil: coolingUntil.UTC(), Unstored: int(w.results.unstored.Load()),
		Version: version(), Protocol: w.q.protocol, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Access: w.Permissions.Access, Models: w.Permissions.Models, Dirs: w.Permissions.Dirs,
		Takes: map[string]time.Time{}, Refuses: map[string]string{},
	}
	if w.Chain == nil {
		s.Backends = []string{w.backend.Name()}
	} else {
		for _, b := range w.Chain.Backends() {
			s.Backends = append(s.Backends, b.Name())
		}
	}
	if len(s.Dirs) == 0 && s.Access > clichain.AccessNone {
		s.Dirs = []string{"."}
	}
	for _, c := range w.q.consumers.List() {
		switch state := w.ready.Of(ctx, c.Class, c.Needs); {
		case state.Why == "":
			s.Takes[c.Class] = state.Until.UTC()
		case len(state.Why) > maxRefusal:
			s.Refuses[c.Class] = strings.ToValidUTF8(firstLine(state.Why[:maxRefusal]), "") + "…"
		default:
			s.Refuses[c.Class] = firstLine(state.Why)
		}
	}
	return s
}
