package store

import (
	"context"
	"log/slog"
	"time"
)

const (
	// keepEvery bounds the results whose headers Counts reads, and the results above the limit.
	keepEvery = 5 * time.Second
	// sweepEvery is how often a worker removes unused data.
	sweepEvery = 10 * time.Minute
)

// Keep removes results above the limit and unused data, and saves the counts of the results, until ctx ends. Several
// workers may do so at the same time.
func (s Cleaner) Keep(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	var swept time.Time
	failing := false
	for {
		removed, err := s.Trim(ctx)
		if removed > 0 {
			log.WarnContext(ctx, "the oldest results are removed: the results took too much space", "removed", removed)
		}
		if err == nil {
			err = Counter(s).Summarize(ctx)
		}
		if now := time.Now(); err == nil && now.Sub(swept) >= sweepEvery {
			swept = now
			err = s.Sweep(ctx, now)
		}
		failed := failing
		if failing = err != nil; failing && !failed && ctx.Err() == nil { // it is logged once
			log.WarnContext(ctx, "cannot remove old results or unused data of the queue", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
