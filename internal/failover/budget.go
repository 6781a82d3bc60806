package failover

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
)

const (
	// defaultMinAttempt is the time that a slow CLI needs to start and to print its first output.
	defaultMinAttempt = 5 * time.Second
	// maxReserves is the number of later candidates for which the budget reserves time.
	maxReserves = 2
)

// budget is the time limit of a call of a chain.
type budget struct {
	end     time.Time     // of the last attempt; zero: no limit
	killAt  time.Time     // when no process may run any more
	minimum time.Duration // for one attempt
	due     time.Duration // a failure after less time is no evidence against a backend
	short   bool          // the time was never enough for an attempt
}

// newBudget returns the earlier of the chain's own limit and the caller's deadline minus a margin. The deadline
// of an outer chain already includes its margin.
func newBudget(ctx context.Context, now time.Time, limit, minAttempt time.Duration) budget {
	b := budget{due: cmp.Or(minAttempt, defaultMinAttempt)}
	if limit > 0 {
		b.end = now.Add(limit)
		b.killAt = b.end
	}
	if deadline, ok := ctx.Deadline(); ok {
		hard, inner := chainview.HardEnd(ctx, deadline)
		if !inner {
			deadline = hard.Add(-chainview.Margin(hard.Sub(now)))
		}
		if b.end.IsZero() || deadline.Before(b.end) {
			b.end = deadline
		}
		if b.killAt.IsZero() || hard.Before(b.killAt) {
			b.killAt = hard
		}
	}
	if b.minimum = b.due; !b.end.IsZero() {
		total := max(b.end.Sub(now), 0)
		if minAttempt == 0 {
			b.minimum = min(b.minimum, total*5/9+1) // otherwise a short call could not start a second attempt
		}
		b.short = total < b.minimum
	}
	return b
}

func (b budget) over(now time.Time) bool { return !b.end.IsZero() && !now.Before(b.end) }

// least is 90% of the minimum, because the end of the previous attempt may have used some time.
func (b budget) least() time.Duration { return b.minimum - b.minimum/10 }

// lacks reports whether there is too little time for one more attempt. If the call had enough time at its
// beginning, the first attempt may always start.
func (b budget) lacks(now time.Time, first bool) bool {
	return !b.end.IsZero() && (b.short || !first && b.end.Sub(now) < b.least())
}

// reserves returns for how many candidates after the next one there is time to reserve.
func (b budget) reserves(now time.Time) (n int) {
	if b.end.IsZero() || b.minimum <= 0 {
		return 0
	}
	return min(int(max(b.end.Sub(now)-b.least(), 0)/b.minimum), maxReserves)
}

// slice returns the time for the next candidate, given the number of eligible later candidates. It reserves one
// minimum for each of at most two of them, if at least a minimum is left for the candidate itself.
func (b budget) slice(now time.Time, later int) (d time.Duration, bounded bool) {
	if b.end.IsZero() {
		return 0, false
	}
	kept := time.Duration(min(later, b.reserves(now)))
	return max(b.end.Sub(now), 0) - kept*b.minimum, true
}

// spent reports whether the chain's budget, not the caller, ended the context.
func (l *Loop) spent() bool { return stopped(l.ctx) }

func stopped(ctx context.Context) bool {
	_, ok := errors.AsType[*judge.Stop](context.Cause(ctx))
	return ok
}

// cutShort reports whether a candidate was stopped before it had the minimum time.
func (l *Loop) cutShort(ctx context.Context, view chainview.View, start time.Time) bool {
	asked := view.KillAt.Add(-chainview.Margin(view.KillAt.Sub(start))) // to terminate
	ended := ctx.Err() != nil || !view.KillAt.IsZero() && !time.Now().Before(asked)
	return ended && time.Since(start) < l.budget.due
}

// slice returns a candidate's share of the time. Its context derives from the caller's context instead of that
// of the budget. An error then names the end of the share, and its Err shows whether the caller had a deadline.
func (l *Loop) slice(caller context.Context, i int) (chainview.View, context.Context, context.CancelFunc) {
	later := l.later(i, l.budget.reserves(time.Now()))
	now := time.Now()
	d, bounded := l.budget.slice(now, later)
	if !bounded {
		return chainview.View{}, caller, func() {}
	}
	view := chainview.View{Deadline: now.Add(d), Allotted: d}
	if view.KillAt = view.Deadline; !view.Deadline.Before(l.budget.end) {
		view.KillAt = l.budget.killAt
	}
	free := func() {}
	if !l.Outer.Deadline.IsZero() {
		caller, free = detached(caller)
	}
	ctx, done := context.WithDeadlineCause(caller, view.Deadline, &judge.Stop{Reason: call.ReasonTimeout, After: d})
	return view, ctx, func() { done(); free() }
}

// detached returns a context that does not end with the slice of an outer chain, because this chain divides
// that slice.
func detached(slice context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(slice))
	stopWatching := context.AfterFunc(slice, func() {
		if !stopped(slice) {
			stop(judge.End(slice))
		}
	})
	return ctx, func() { stopWatching(); stop(nil) }
}

// later counts the eligible candidates after index i, up to most, because each check composes a call.
func (l *Loop) later(i, most int) (n int) {
	for _, c := range l.order[i+1:] {
		if n >= most {
			break
		}
		if l.eligible(c) {
			n++
		}
	}
	return n
}
