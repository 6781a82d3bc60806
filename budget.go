package clichain

import (
	"cmp"
	"context"
	"time"
)

const (
	// defaultMinAttempt is what a slow CLI needs to start and say a word.
	defaultMinAttempt = 5 * time.Second
	// reportMargin is left before the caller's own deadline, so that the error
	// with every backend's reason arrives before somebody kills the process.
	reportMargin = 2 * time.Second
)

// budget is the time that a call may take along a chain.
type budget struct {
	end     time.Time // zero: no bound
	minimum time.Duration
}

// newBudget takes the earlier of ChainConfig.Budget and the caller's deadline,
// less the margin; a short deadline has a margin of a tenth, and that of a
// chain around this one none: there is nothing to report yet.
func (cfg *ChainConfig) newBudget(ctx context.Context, now time.Time, inner bool) budget {
	b := budget{minimum: cmp.Or(cfg.MinAttempt, defaultMinAttempt)}
	if cfg.Budget > 0 {
		b.end = now.Add(cfg.Budget)
	}
	if deadline, ok := ctx.Deadline(); ok {
		end := deadline
		if !inner {
			end = deadline.Add(-min(reportMargin, deadline.Sub(now)/10))
		}
		if b.end.IsZero() || end.Before(b.end) {
			b.end = end
		}
	}
	return b
}

func (b budget) over(now time.Time) bool { return !b.end.IsZero() && !now.Before(b.end) }

// slice is the time of the next backend, with so many others behind it that
// could answer: all that is left but a minimum for each of them, or an equal
// share where there is less.
func (b budget) slice(now time.Time, later int) (d time.Duration, bounded bool) {
	if b.end.IsZero() {
		return 0, false
	}
	left := max(b.end.Sub(now), 0)
	if share := left / time.Duration(later+1); share < b.minimum {
		return share, true
	}
	return left - time.Duration(later)*b.minimum, true
}
