package batch

import (
	"context"
	"log/slog"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// workConfig has the worker of this process tell the run what it does.
func (r *run) workConfig(log *slog.Logger) *jetstream.WorkConfig {
	cfg := &jetstream.WorkConfig{
		Permissions: r.cfg.Permissions, Slots: r.cfg.Jobs, Logger: log, Alone: true,
		OnStart: func(job *jetstream.Job) {
			r.track(func() { r.running[job.ID] = true; delete(r.parked, job.ID) })
		},
		OnPark: func(job *jetstream.Job, d jetstream.Delivery) {
			r.track(func() { delete(r.running, job.ID); r.parked[job.ID] = true })
			if d.Until.After(time.Now()) {
				r.notices.once("parked "+string(d.Reason), "%s: a line is put off until %s: %s",
					d.Reason, d.Until.Local().Format("15:04:05"), d.Message)
			}
		},
		OnResult: func(result *jetstream.Result) {
			if err := r.recordOrRetry(result); err != nil {
				r.stop(err)
			}
			r.track(func() { delete(r.running, result.ID); delete(r.parked, result.ID) })
		},
		OnRest: r.onRest,
	}
	if r.cfg.Worker != nil {
		r.cfg.Worker(cfg)
	}
	return cfg
}

// recordOrRetry asks again what failed only because processes of this batch were killed while it ran.
func (r *run) recordOrRetry(result *jetstream.Result) error {
	f := result.Failure
	if r.cfg.remote() || f == nil || f.Reason != clichain.ReasonKilled || len(f.Attempts) > 0 || f.SideEffects {
		return r.record(result)
	}
	ctx, stop := context.WithTimeout(context.Background(), settleLimit)
	defer stop()
	return r.store.explain(r.store.queue.Retry(ctx, result.ID))
}

// track changes what is known of the jobs of this process.
func (r *run) track(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	running, parked := len(r.running), len(r.parked)
	r.tally.change(func(c *Counts) { c.Running, c.Parked = running, parked })
	if running == 0 {
		notify(r.quiet)
	}
}

func (r *run) runs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// noteWorkers tells where no worker elsewhere is connected.
func (r *run) noteWorkers(ctx context.Context) {
	if !r.cfg.remote() {
		return
	}
	status, err := r.store.queue.Status(ctx)
	if err != nil {
		return // what matters will say so
	}
	for _, w := range status.Workers {
		if w.Alive {
			return
		}
	}
	r.notices.say("no worker is connected to the queue %q: jobs wait until one is", status.Name)
}

// alarm is the log of a worker, which tells of what goes wrong with the queue: the cause may be in its folder.
type alarm struct{ ring func() }

// Enabled is true for everything: a write that is tried again is worth a look.
func (a *alarm) Enabled(context.Context, slog.Level) bool { return true }

// Handle rings.
func (a *alarm) Handle(context.Context, slog.Record) error {
	a.ring()
	return nil
}

// WithAttrs changes nothing.
func (a *alarm) WithAttrs([]slog.Attr) slog.Handler { return a }

// WithGroup changes nothing.
func (a *alarm) WithGroup(string) slog.Handler { return a }
