package batch

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/jetstream"
)

// remote records the results of workers that use another server's queue.
type remote struct {
	*queue
	cfg  *Config
	rec  *recorder
	seen uint64 // sequence number of the last recorded result
}

func openRemote(ctx context.Context, cfg *Config, rec *recorder) (_ executor, err error) {
	r := &remote{queue: &queue{}, cfg: cfg, rec: rec}
	if r.dir, err = dirFor(cfg, ".nats"); err != nil {
		return nil, err
	}
	if r.nc, err = cfg.Connect(ctx); err != nil {
		return nil, err
	}
	if r.Queue, err = jetstream.Open(ctx, r.nc, cfg.Queue); err == nil {
		r.scope, err = scopeIn(r.dir)
	}
	if err != nil {
		_ = r.queue.close(false) // report the first error
		return nil, err
	}
	return r, nil
}

func (r *remote) start(ctx context.Context) <-chan struct{} {
	r.noteWorkers(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.collect(ctx)
	}()
	return done
}

// noteWorkers reports that no worker is connected.
func (r *remote) noteWorkers(ctx context.Context) {
	status, err := r.Status(ctx)
	if err != nil {
		return // another operation reports the error
	}
	for _, w := range status.Workers {
		if w.Alive {
			return
		}
	}
	r.rec.notices.say("no worker is connected to the queue %q: jobs wait for a worker", status.Name)
}

// collect records results as they arrive.
func (r *remote) collect(ctx context.Context) {
	err := try(ctx, r, func() error {
		for result, err := range r.Results(ctx, r.seen) {
			if err != nil {
				return err
			}
			r.seen = result.Sequence
			if err := r.take(result); err != nil {
				r.rec.stop(err)
				return nil
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.rec.stop(err)
	}
}

func (r *remote) take(result *jetstream.Result) error { return r.rec.record(result) }

// transient returns true for all errors except the error of a result that no longer exists.
func (*remote) transient(err error) bool { return !errors.Is(err, jetstream.ErrNotFound) }

func (*remote) check() error             { return nil }
func (*remote) refuse()                  {}
func (*remote) wait(context.Context)     {}
func (*remote) asking() bool             { return false }
func (*remote) close() (strays []string) { return nil }

func (r *remote) conclude(ctx context.Context, finished bool) {
	switch {
	case finished:
		r.collectKept(ctx)
		r.rec.settle(ctx)
	case !r.cfg.resumes():
		r.abandon(ctx)
	}
}

// collectKept records the results of an earlier run that collect has not received, because a run with few lines may
// end before it receives them. If the queue is unreachable, the next run records these results.
func (r *remote) collectKept(ctx context.Context) {
	if r.rec.tally.now().Before == 0 {
		return
	}
	for result, err := range r.Kept(ctx, r.seen) {
		if err != nil || r.take(result) != nil {
			return
		}
	}
}

// dropLimit limits the time for removing jobs whose results no run will read.
const dropLimit = 10 * time.Second

// abandon removes the jobs that no later run can find.
func (r *remote) abandon(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, dropLimit)
	defer stop()
	for _, id := range r.rec.ids.pending() {
		if r.Drop(ctx, r.outside(id)) != nil && ctx.Err() != nil {
			return
		}
	}
}
