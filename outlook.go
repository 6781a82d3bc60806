package clichain

import "context"

// outlook is what a call may know of the chain that makes it. It travels in
// the context, so that it passes through backends of other kinds. The zero
// value is that of a call without a chain.
type outlook struct {
	// another reports whether a further backend could answer. Nil: none could.
	another func() bool
	// resets: text that was delivered can be taken back.
	resets bool
}

type outlookOfContext struct{}

func withOutlook(ctx context.Context, o outlook) context.Context {
	return context.WithValue(ctx, outlookOfContext{}, o)
}

func outlookOf(ctx context.Context) outlook {
	o, _ := ctx.Value(outlookOfContext{}).(outlook)
	return o
}
