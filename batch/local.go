package batch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/jetstream"
)

// local answers the jobs of a private queue with the backends of this process.
type local struct {
	*queue
	cfg     *Config
	rec     *recorder
	backend *localBackend // nil: not started

	quiet           chan struct{} // signals that no job runs
	mu              sync.Mutex
	running, parked map[string]bool
}

// The queue of one process needs no more deliveries, because no other worker exists that could succeed where the
// first attempts failed. A short ackWait lets the next run detect soon that the worker of an earlier run has ended.
const (
	maxDeliver = 3
	ackWait    = 10 * time.Second
)

func openLocal(ctx context.Context, cfg *Config, rec *recorder) (_ executor, err error) {
	l := &local{
		queue: &queue{scope: "batch"}, cfg: cfg, rec: rec,
		quiet: make(chan struct{}, 1), running: map[string]bool{}, parked: map[string]bool{},
	}
	if l.dir, err = dirFor(cfg, ".queue"); err != nil {
		return nil, err
	}
	if l.dir == "" {
		l.temporary = true
		if l.dir, err = os.MkdirTemp("", "clichain-batch-"); err != nil {
			return nil, disk.Explain(os.TempDir(), err)
		}
	}
	if err := l.open(ctx); err != nil {
		if _, locked := errors.AsType[*jetstream.LockedError](err); locked {
			err = &Mistake{err}
		} else {
			err = explain(l, err)
		}
		_ = l.queue.close(false) // report the first error
		return nil, err
	}
	return l, nil
}

func (l *local) open(ctx context.Context) (err error) {
	if l.server, err = jetstream.Embed(l.dir); err != nil {
		return err
	}
	if l.nc, err = l.server.Connect(); err != nil {
		return err
	}
	var cfg jetstream.Config
	if l.cfg.Queue != nil {
		cfg = *l.cfg.Queue
	}
	cfg.MaxDeliver, cfg.AckWait = maxDeliver, ackWait
	l.Queue, err = jetstream.Open(ctx, l.nc, &cfg)
	return err
}

func (l *local) start(ctx context.Context) <-chan struct{} {
	l.backend = newLocalBackend(l.cfg, l.hooks(), l.noteColdStart)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.work(ctx)
	}()
	return done
}

func (l *local) work(ctx context.Context) {
	if l.rec.costLimitReached() {
		l.refuse()
	}
	cfg := l.workConfig(slog.New(&onLog{func() {
		if err := l.check(); err != nil {
			l.rec.stop(err)
		}
	}}))
	cfg.Chain = l.backend.chain
	if err := l.Work(ctx, l.backend, cfg); err != nil {
		l.rec.stop(explain(l, err))
	}
}

// workConfig returns the configuration of the worker of this process.
func (l *local) workConfig(log *slog.Logger) *jetstream.WorkConfig {
	cfg := &jetstream.WorkConfig{
		Permissions: l.cfg.Permissions, Slots: l.cfg.Jobs, Logger: log, Alone: true,
		Isolated: l.cfg.Workspace != nil,
		OnStart: func(job *jetstream.Job) {
			l.track(func() { l.running[job.ID] = true; delete(l.parked, job.ID) })
		},
		OnPark: func(job *jetstream.Job, d jetstream.Delivery) {
			l.track(func() { delete(l.running, job.ID); l.parked[job.ID] = true })
			if d.Until.After(time.Now()) {
				l.rec.notices.once("parked "+string(d.Reason), "%s: a line is postponed until %s: %s",
					d.Reason, d.Until.Local().Format("15:04:05"), d.Message)
			}
		},
		OnResult: func(result *jetstream.Result) {
			if err := l.take(result); err != nil {
				l.rec.stop(err)
			}
			l.track(func() { delete(l.running, result.ID); delete(l.parked, result.ID) })
		},
		OnRest: l.onRest,
	}
	if l.cfg.Worker != nil {
		l.cfg.Worker(cfg)
	}
	return cfg
}

// track changes the sets of running and parked jobs, and then updates their counts.
func (l *local) track(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	running, parked := len(l.running), len(l.parked)
	l.rec.tally.change(func(c *Counts) { c.Running, c.Parked = running, parked })
	if running == 0 {
		notify(l.quiet)
	}
}

// take records a result. It retries a job that failed only because processes of this batch were killed.
func (l *local) take(result *jetstream.Result) error {
	f := result.Failure
	if f == nil || f.Reason != clichain.ReasonKilled || len(f.Attempts) > 0 || f.SideEffects {
		return l.rec.record(result)
	}
	ctx, stop := context.WithTimeout(context.Background(), settleLimit)
	defer stop()
	return explain(l, l.Retry(ctx, result.ID))
}

func (l *local) refuse() { l.backend.drained.Store(true) }

func (l *local) wait(ctx context.Context) {
	for l.rec.tally.now().Running > 0 {
		select {
		case <-l.quiet:
		case <-ctx.Done():
			return
		}
	}
}

func (l *local) asking() bool { return l.backend.inFlight.Load() > 0 }

func (l *local) check() error { return disk.Probe(l.dir) }

// transient returns false, because a failed queue in this process does not recover.
func (*local) transient(error) bool { return false }

func (*local) conclude(context.Context, bool) {} // close removes the queue

func (l *local) close() (strays []string) { return l.backend.close() }

// onRest is called if no backend can answer before a time.
func (l *local) onRest(until time.Time) {
	if l.backend.drained.Load() {
		return
	}
	l.rec.tally.change(func(c *Counts) { c.Rest = until })
	reserved := errors.Is(l.backend.chain.Ready(context.Background()), clichain.ErrReserved)
	if !reserved && l.backend.store.needsPerson(time.Now()) {
		l.noteCooldowns()
		l.rec.stop(ErrNobody)
		return
	}
	l.rec.notices.say("no CLI can answer before %s", until.Local().Format("15:04:05"))
}

// noteCooldowns reports which backends are in cooldown, and why.
func (l *local) noteCooldowns() {
	failed, _ := errors.AsType[*clichain.ChainError](l.backend.chain.Ready(context.Background()))
	if failed == nil {
		return
	}
	for _, a := range failed.Attempts {
		if a.Reason == clichain.ReasonCoolingDown {
			l.rec.notices.say("%v", a.Err)
		}
	}
}

// noteColdStart reports once per backend that the backend starts a process for each answer.
func (l *local) noteColdStart(backend string, err error) {
	l.rec.notices.once("cold "+backend,
		"%s: no warm process is available, so each answer starts a process (as with --cold): %v", backend, err)
}

// hooks returns hooks that report the first failure of each backend and Reason.
func (l *local) hooks() *clichain.Hooks {
	return &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) {
		if a.Err != nil && !a.Skipped && a.Reason != clichain.ReasonCanceled {
			l.rec.notices.once(a.Backend+" "+string(a.Reason), "%v", a.Err)
		}
	}}
}

// onLog is a slog.Handler that calls a func for each message of any level.
type onLog struct{ call func() }

// Enabled returns true.
func (*onLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle calls the func.
func (l *onLog) Handle(context.Context, slog.Record) error {
	l.call()
	return nil
}

// WithAttrs returns l.
func (l *onLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup returns l.
func (l *onLog) WithGroup(string) slog.Handler { return l }
