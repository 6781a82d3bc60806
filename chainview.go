package clichain

import (
	"context"
	"time"
)

// chainView is what a call may know of the chain that makes it. It travels in
// the context, so that it passes through backends of other kinds. The zero
// value is that of a call without a chain.
type chainView struct {
	// another reports whether a further backend could answer. Nil: none could.
	another func() bool
	// movedOn is called when the call is ended for another backend. It may start that one. Nil: nobody asks.
	movedOn func()
	// resets: text that was delivered can be taken back.
	resets bool
	// quiet: nobody hears of what the answer is made of, so events other than
	// those of milestones need not be delivered.
	quiet bool
	// end is that of the backend's time, and hard when nothing of it may run any
	// more. Zero: no bound.
	end, hard time.Time
	given     time.Duration // until end
}

type chainViewKey struct{}

func withChainView(ctx context.Context, o chainView) context.Context {
	return context.WithValue(ctx, chainViewKey{}, o)
}

func chainViewOf(ctx context.Context) chainView {
	o, _ := ctx.Value(chainViewKey{}).(chainView)
	return o
}
