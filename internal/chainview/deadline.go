package chainview

import (
	"context"
	"time"
)

// maxMargin limits the time between the request to terminate and the kill of a process. It is long enough for a
// CLI to terminate, and for the error with every backend's reason to arrive before this process is killed.
const maxMargin = 2 * time.Second

// Margin is the time to keep at the end of a call that takes d: a tenth of d, and at most 2 s.
func Margin(d time.Duration) time.Duration { return max(min(maxMargin, d/10), 0) }

// HardEnd returns when no process of a call may run any more, which is the deadline of its context. If a chain
// around the call has set that deadline, inChain is true and the time is that of the chain.
func HardEnd(ctx context.Context, deadline time.Time) (hard time.Time, inChain bool) {
	if v := Of(ctx); !v.Deadline.IsZero() && !deadline.Before(v.Deadline) {
		return v.KillAt, true
	}
	return deadline, false
}

// TerminateAt returns when a process must be asked to terminate so that it has ended, or was killed, at the end of the
// call. Both times are zero for a call without a deadline. allotted is the time that the call had.
func TerminateAt(ctx context.Context, now time.Time) (ask, kill time.Time, allotted time.Duration) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ask, kill, 0
	}
	kill, inChain := HardEnd(ctx, deadline)
	if ask = kill.Add(-Margin(kill.Sub(now))); deadline.Before(ask) {
		ask = deadline
	}
	if inChain {
		return ask, kill, Of(ctx).Allotted
	}
	return ask, kill, ask.Sub(now)
}
