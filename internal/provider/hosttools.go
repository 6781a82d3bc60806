package provider

import (
	"context"

	"github.com/clichain/clichain/call"
)

// serveTools starts the server with the functions of the caller, if the call has any, for one process at a time. The
// context that it returns has the address of the server. attach lets the functions of a call answer. Always call end.
func serveTools(
	ctx context.Context, p *Provider,
) (_ context.Context, attach func(context.Context) (detach func()), end func(), _ *call.Error) {
	none := func() {}
	tools := call.HostToolsOf(ctx)
	if tools == nil || tools.Serve == nil || p.InContainer() {
		return ctx, attachNothing, none, nil
	}
	server, err := tools.Serve()
	if err != nil {
		return ctx, attachNothing, none, p.Label(&call.Error{
			Reason: call.ReasonSpawn, ExitCode: -1, Stage: call.StageSkipped, Err: err,
			Message: "cannot start the server of the functions: " + err.Error(),
		})
	}
	return call.WithHostTools(ctx, server.Tools), server.Attach, server.Close, nil
}

// attachNothing is the attach of a process without functions.
func attachNothing(context.Context) (detach func()) { return func() {} }
