package call

import (
	"context"

	"github.com/clichain/clichain/internal/pattern"
)

// traceparent matches the header of that name in the W3C Trace Context: a version, a trace id, a span id and flags.
var (
	traceparent = pattern.Of(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	noTrace     = pattern.Of(`^ff-|^..-0{32}-|-0{16}-..$`)
	tracestate  = pattern.Of(`^[\x20-\x7e]{1,512}$`)
)

type traceKey struct{}

type trace struct{ parent, state string }

// WithTrace returns a context whose calls belong to a span. CLIs that support it get the span as the W3C headers
// traceparent and tracestate. WithTrace replaces an earlier span of the context. An invalid parent clears both
// values. A state without a parent, of more than 512 characters or with other characters than printable ASCII is
// ignored.
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

// TraceOf returns the valid values of [WithTrace], or empty strings.
func TraceOf(ctx context.Context) (parent, state string) {
	t, _ := ctx.Value(traceKey{}).(trace)
	return t.parent, t.state
}
