// Package chainview carries what a chain tells its backends through the context of a call, and the deadlines that
// follow from it.
package chainview

import (
	"context"
	"time"
)

// View is what a call may know of the chain that makes it. It travels in the context, so it also passes through
// backends of other packages. The zero value is that of a call without a chain.
type View struct {
	// HasFallback reports whether a later backend can serve the request. Nil: none can.
	HasFallback func() bool
	// OnHandover is called when the call ends early in favor of a later backend. It may start that backend. Nil: ignored.
	OnHandover func()
	// CanReset: the chain can take back text that it has delivered.
	CanReset bool
	// Discards reports whether the changes of the run are discarded if it fails, so that another backend can take over
	// although a tool was used. Nil: they are not.
	Discards func() bool
	// MilestonesOnly: the events that make up the answer are not read, so only those of kind start and attempt, and
	// reports about usage windows, are needed.
	MilestonesOnly bool
	// NoTool is called before an answer if the agent certainly used no tool. Nil: ignored. Calls without write access
	// may call it too.
	NoTool func()
	// Deadline is the end of the backend's share of the time, and KillAt when none of its processes may run any more.
	// Zero: no limit.
	Deadline, KillAt time.Time
	Allotted         time.Duration // until Deadline
}

type key struct{}

// With returns a context that carries the view.
func With(ctx context.Context, v View) context.Context { return context.WithValue(ctx, key{}, v) }

// Of returns the view that a context carries.
func Of(ctx context.Context) View {
	v, _ := ctx.Value(key{}).(View)
	return v
}
