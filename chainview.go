package clichain

import (
	"context"
)

// chainView is what a call may know of the chain that makes it. It travels in
// the context, so that it passes through backends of other kinds. The zero
// value is that of a call without a chain.
type chainView struct {
	// another reports whether a further backend could answer. Nil: none could.
	another func() bool
	// resets: text that was delivered can be taken back.
	resets bool
}

type chainViewKey struct{}

func withChainView(ctx context.Context, o chainView) context.Context {
	return context.WithValue(ctx, chainViewKey{}, o)
}

func chainViewOf(ctx context.Context) chainView {
	o, _ := ctx.Value(chainViewKey{}).(chainView)
	return o
}
