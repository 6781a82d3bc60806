package call

import "context"

// HostTools describes an MCP server in this process that offers functions of the caller to a CLI, for one call.
// Package hosttools of the module of that name makes it.
type HostTools struct {
	// URL is the address of the server, on a loopback address over HTTP.
	URL string
	// Token is the bearer token that the server requires. No argument, log or error contains it.
	Token string
	// Acted reports whether a function that may change something has begun. It is safe for concurrent use. Nil: never.
	Acted func() bool
}

type hostToolsKey struct{}

// WithHostTools returns a context whose calls have the functions of the caller. A backend that cannot offer them fails
// as unsupported. Nil removes the functions of an outer context.
func WithHostTools(ctx context.Context, tools *HostTools) context.Context {
	return context.WithValue(ctx, hostToolsKey{}, tools)
}

// HostToolsOf returns the functions of the caller in the context, or nil.
func HostToolsOf(ctx context.Context) *HostTools {
	tools, _ := ctx.Value(hostToolsKey{}).(*HostTools)
	return tools
}

// HaveActed reports whether a function that may change something has begun. Nil has no functions.
func (t *HostTools) HaveActed() bool { return t != nil && t.Acted != nil && t.Acted() }
