package clichain

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/machine"
)

const (
	// defaultMinAttempt is what a slow CLI needs to start and say a word.
	defaultMinAttempt = 5 * time.Second
	// maxReserves is for how many later backends time is kept. The others have
	// what these leave.
	maxReserves = 2
)

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
		hard, inner := chainview.HardEnd(ctx, deadline)
		if !inner {
			deadline = hard.Add(-chainview.Margin(hard.Sub(now)))
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
func (w *walk) hurried(ctx context.Context, view chainview.View, t *try) bool {
	asked := view.KillAt.Add(-chainview.Margin(view.KillAt.Sub(t.start))) // to end, before the hard end
	ended := ctx.Err() != nil || !view.KillAt.IsZero() && !time.Now().Before(asked)
	return ended && time.Since(t.start) < w.budget.due
}

// slice is one backend's part of the time. Its context does not hear of the end of the chain's
// time, which is not before its own: so that is what an error names. It is one of the caller's,
// so that its Err says whether that had a deadline.
func (w *walk) slice(caller context.Context, i int) (chainview.View, context.Context, context.CancelFunc) {
	later := w.later(i, w.budget.reserves(time.Now()))
	now := time.Now()
	d, bounded := w.budget.slice(now, later)
	if !bounded {
		return chainview.View{}, caller, func() {}
	}
	view := chainview.View{Deadline: now.Add(d), Allotted: d}
	if view.KillAt = view.Deadline; !view.Deadline.Before(w.budget.end) {
		view.KillAt = w.budget.hard
	}
	free := func() {}
	if !w.above.Deadline.IsZero() {
		caller, free = apart(caller)
	}
	ctx, done := context.WithDeadlineCause(caller, view.Deadline, &judge.Stop{Reason: ReasonTimeout, After: d})
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
