package jetstream

import (
	"context"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
)

const (
	// summarizeEvery bounds the number of results whose headers Status reads, and of those above the limit.
	summarizeEvery = 5 * time.Second
	// sweepEvery is how often a worker removes what nothing else removes.
	sweepEvery = 10 * time.Minute
)

// keepHouse removes results above the limit and unused data, and saves the counts of the results, until ctx ends.
// Several workers may do so at the same time.
func (w *worker) keepHouse(ctx context.Context) {
	clean, count := store.Cleaner{Store: w.q.store}, store.Counter{Store: w.q.store}
	tick := time.NewTicker(summarizeEvery)
	defer tick.Stop()
	var swept time.Time
	for {
		err := clean.Trim(ctx)
		if err == nil {
			err = count.Summarize(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.Logger.DebugContext(ctx, "cannot remove or count results", "error", err)
		}
		if now := time.Now(); now.Sub(swept) >= sweepEvery {
			swept = now
			if err := clean.Sweep(ctx, now); err != nil && ctx.Err() == nil {
				w.Logger.WarnContext(ctx, "cannot remove unused data of the queue", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
