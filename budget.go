package clichain

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/machine"
)

const (
	// defaultMinAttempt is what a slow CLI needs to start and say a word.
	defaultMinAttempt = 5 * time.Second
	// stopMargin is left before a hard end: for a CLI to end when it is asked to,
	// and for the error with every backend's reason to arrive before somebody
	// kills this process.
	stopMargin = 2 * time.Second
	// maxReserves is for how many later backends time is kept. The others have
	// what these leave.
	maxReserves = 2
)

// marginOf is the margin of a call that has so long: a tenth of what is short.
func marginOf(d time.Duration) time.Duration { return max(min(stopMargin, d/10), 0) }

// budget is the time that a call may take along a chain.
type budget struct {
	end     time.Time // of the last attempt; zero: no bound
	hard    time.Time // by when nothing may run any more
	minimum time.Duration
	due     time.Duration // less than that says nothing about a backend
	short   bool          // there was never time for an attempt
}

// newBudget takes the earlier of the chain's own bound and the caller's deadline,
// less the margin. That of a chain around this one has its margin already.
func (cfg *ChainConfig) newBudget(ctx context.Context, now time.Time) budget {
	b := budget{due: cmp.Or(cfg.MinAttempt, defaultMinAttempt)}
	if d := cfg.ownBudget(); d > 0 {
		b.end = now.Add(d)
		b.hard = b.end
	}
	if deadline, ok := ctx.Deadline(); ok {
		hard, inner := hardEnd(ctx, deadline)
		if !inner {
			deadline = hard.Add(-marginOf(hard.Sub(now)))
		}
		if b.end.IsZero() || deadline.Before(b.end) {
			b.end = deadline
		}
		if b.hard.IsZero() || hard.Before(b.hard) {
			b.hard = hard
		}
	}
	if b.minimum = b.due; !b.end.IsZero() {
		total := max(b.end.Sub(now), 0)
		if cfg.MinAttempt == 0 {
			b.minimum = min(b.minimum, total*5/9+1) // or a short call could not go on at all
		}
		b.short = total < b.minimum
	}
	return b
}

// ownBudget is Budget or, where a sandbox ends every step after 30 s, what is
// below that.
func (cfg *ChainConfig) ownBudget() time.Duration {
	if cfg.Budget == 0 && cfg.Sandbox != SandboxOff {
		if _, sign := machine.NixBuild(); sign != "" {
			return DefaultTimeout
		}
	}
	return cfg.Budget
}

// hardEnd is when nothing of a call may run any more: at its context's deadline,
// unless that is one with which a chain has left some time.
func hardEnd(ctx context.Context, deadline time.Time) (hard time.Time, inChain bool) {
	if v := chainViewOf(ctx); !v.end.IsZero() && !deadline.Before(v.end) {
		return v.hard, true
	}
	return deadline, false
}

// lastMoment is when a process must be asked to end, so that it has ended, or was
// killed, when the call's time is over. Both are zero where that has no end.
func lastMoment(ctx context.Context, now time.Time) (ask, kill time.Time, given time.Duration) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ask, kill, 0
	}
	kill, inChain := hardEnd(ctx, deadline)
	if ask = kill.Add(-marginOf(kill.Sub(now))); deadline.Before(ask) {
		ask = deadline
	}
	if inChain {
		return ask, kill, chainViewOf(ctx).given
	}
	return ask, kill, ask.Sub(now)
}

func (b budget) over(now time.Time) bool { return !b.end.IsZero() && !now.Before(b.end) }

// least is the minimum, less what the end of the attempt before may take of it:
// time that was kept for an attempt must be enough for it.
func (b budget) least() time.Duration { return b.minimum - b.minimum/10 }

// lacks reports whether there is too little time for one more attempt. The first
// of a call that has enough may start whatever it took to get there.
func (b budget) lacks(now time.Time, first bool) bool {
	return !b.end.IsZero() && (b.short || !first && b.end.Sub(now) < b.least())
}

// reserves is for how many of the backends after the next there is time to keep.
func (b budget) reserves(now time.Time) (n int) {
	if b.end.IsZero() || b.minimum <= 0 {
		return 0
	}
	return min(int(max(b.end.Sub(now)-b.least(), 0)/b.minimum), maxReserves)
}

// slice is the time of the next backend, with so many others behind it that
// could answer: all that is left but a minimum for each of at most two of them,
// as far as it has as much itself.
func (b budget) slice(now time.Time, later int) (d time.Duration, bounded bool) {
	if b.end.IsZero() {
		return 0, false
	}
	kept := time.Duration(min(later, b.reserves(now)))
	return max(b.end.Sub(now), 0) - kept*b.minimum, true
}

// spent reports whether the chain's budget, not the caller, ended the context.
func (w *walk) spent() bool { return stopped(w.ctx) }

func stopped(ctx context.Context) bool {
	_, ok := errors.AsType[*judge.Stop](context.Cause(ctx))
	return ok
}

// hurried reports whether a backend was ended before it had the time that it is due.
func (w *walk) hurried(ctx context.Context, view chainView, t *try) bool {
	asked := view.hard.Add(-marginOf(view.hard.Sub(t.start))) // to end, before the hard end
	ended := ctx.Err() != nil || !view.hard.IsZero() && !time.Now().Before(asked)
	return ended && time.Since(t.start) < w.budget.due
}

// slice is one backend's part of the time. Its context does not hear of the end of the chain's
// time, which is not before its own: so that is what an error names. It is one of the caller's,
// so that its Err says whether that had a deadline.
func (w *walk) slice(caller context.Context, i int) (chainView, context.Context, context.CancelFunc) {
	later := w.later(i, w.budget.reserves(time.Now()))
	now := time.Now()
	d, bounded := w.budget.slice(now, later)
	if !bounded {
		return chainView{}, caller, func() {}
	}
	view := chainView{end: now.Add(d), given: d}
	if view.hard = view.end; !view.end.Before(w.budget.end) {
		view.hard = w.budget.hard
	}
	free := func() {}
	if !w.above.end.IsZero() {
		caller, free = apart(caller)
	}
	ctx, done := context.WithDeadlineCause(caller, view.end, &judge.Stop{Reason: ReasonTimeout, After: d})
	return view, ctx, func() { done(); free() }
}

// apart is a context that does not hear of the end of a chain's slice, which the chain inside it divides further.
func apart(slice context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(slice))
	deaf := context.AfterFunc(slice, func() {
		if !stopped(slice) {
			stop(judge.End(slice))
		}
	})
	return ctx, func() { deaf(); stop(nil) }
}

// later counts the backends after the one at i that could answer, up to what matters: to tell that of one, a whole call
// of it is composed.
func (w *walk) later(i, most int) (n int) {
	for _, b := range w.backends[i+1:] {
		if n >= most {
			break
		}
		if w.could(b) {
			n++
		}
	}
	return n
}
