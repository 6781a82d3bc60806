package call

import (
	"context"

	"github.com/clichain/clichain/internal/pattern"
)

// traceparent is the header of that name in the W3C's Trace Context: a version,
// the ids of a trace and of a span in it, and flags.
var (
	traceparent = pattern.Of(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	noTrace     = pattern.Of(`^ff-|^..-0{32}-|-0{16}-..$`)
	tracestate  = pattern.Of(`^[\x20-\x7e]{1,512}$`)
)

type traceKey struct{}

type trace struct{ parent, state string }

// WithTrace makes the span that the calls of the context belong to known to the
// CLIs that can go on with it, in the form of the W3C's headers traceparent and
// tracestate. It replaces what the context had. A traceparent that is not well
// formed counts as none, and so does a tracestate without one, or one that is
// over 512 characters or not printable ASCII.
func WithTrace(ctx context.Context, parent, state string) context.Context {
	t := trace{parent, state}
	if !traceparent().MatchString(parent) || noTrace().MatchString(parent) {
		t = trace{}
	}
	if !tracestate().MatchString(t.state) {
		t.state = ""
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns what [WithTrace] has put into the context, well formed; empty
// texts where there is nothing.
func TraceOf(ctx context.Context) (parent, state string) {
	t, _ := ctx.Value(traceKey{}).(trace)
	return t.parent, t.state
}
