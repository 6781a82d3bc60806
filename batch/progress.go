package batch

import (
	"context"
	"time"
)

const (
	reportEvery = 200 * time.Millisecond // the interval between two calls of Config.Progress
	waitsEvery  = 5 * time.Second
)

// every calls do after each interval, and when it receives from wake, until ctx ends. wake may be nil.
func every(ctx context.Context, interval time.Duration, wake <-chan struct{}, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-wake:
		}
		do()
	}
}

// reportProgress passes the counts to Config.Progress.
func (r *recorder) reportProgress(ctx context.Context) {
	if r.cfg.Progress != nil {
		every(ctx, reportEvery, nil, func() { r.cfg.Progress(r.tally.now()) })
	}
}

// reportWaits reports why lines wait if no job runs and no line was answered during the last interval.
func (r *recorder) reportWaits(ctx context.Context) {
	done := -1
	every(ctx, waitsEvery, nil, func() {
		before, c := done, r.tally.now()
		if done = c.Done(); done != before || c.Running > 0 || c.Rest.After(time.Now()) {
			return
		}
		id, waits := r.ids.first()
		if !waits {
			return
		}
		w, err := r.queue.Waiting(ctx, r.queue.outside(id))
		switch {
		case err != nil || w.Why == "":
		case w.Until.IsZero():
			r.notices.once("waits "+w.Why, "line %s is waiting, and possibly others: %s", id, w.Why)
		default:
			r.notices.once("waits "+w.Why, "line %s is waiting until %s, and possibly others: %s", id,
				w.Until.Local().Format("2006-01-02 15:04:05"), w.Why)
		}
	})
}

// settleOften writes delayed records and commits the output to the disk.
func (r *recorder) settleOften(ctx context.Context) {
	every(ctx, settleEvery, r.full, func() {
		if err := r.writeLate(); err != nil {
			r.stop(err)
		}
		r.settle(ctx)
	})
}
