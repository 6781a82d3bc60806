package live

import (
	"context"

	"github.com/clichain/clichain"
)

// StartDuringClose starts a process of a pool whose Close begins between the choice of the process and its start.
func StartDuringClose(ctx context.Context, of clichain.Backend, req clichain.Request) error {
	b := of.(*backend)
	one := b.process(ctx, req)
	b.pool.end(ErrClosed)
	return one.start(context.WithoutCancel(ctx), b, req)
}
