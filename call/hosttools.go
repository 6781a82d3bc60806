package call

import "context"

// HostTools describes an MCP server in this process that offers functions of the caller to a CLI, for one call.
// Package hosttools of the module of that name makes it.
type HostTools struct {
	// URL is the address of the server, on a loopback address over HTTP. Before Serve, it and Token only identify the
	// functions: they are the same for all calls whose functions look the same to a model.
	URL string
	// Token is the bearer token that the server requires. No argument, log or error contains it.
	Token string
	// Acted reports whether a function that may change something has begun. It is safe for concurrent use. Nil: never.
	Acted func() bool
	// Serve starts a server for one process of a CLI. Nil if the server has started.
	Serve func() (*HostServer, error)
}

// HostServer is a server for one process of a CLI, which may answer several calls, one after the other.
type HostServer struct {
	// Tools has the address of the server. Its Acted reports about the attached call.
	Tools *HostTools
	// Attach makes the functions of a call answer, until detach ends those that still run. ctx is the context of the
	// call. Between two calls the server refuses to call a function.
	Attach func(ctx context.Context) (detach func())
	// Close ends the server.
	Close func()
}

// HostToolSet has functions of the caller. Package hosttools of the module of that name implements it.
type HostToolSet interface {
	// Begin returns the context of a call with the functions, as [WithHostTools] does. The context ends with end, or if
	// a function panics. end waits for the functions for a short time. Its error is that of the panic.
	Begin(ctx context.Context) (_ context.Context, end func() error, _ error)
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
