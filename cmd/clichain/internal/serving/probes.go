package serving

import (
	"context"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/monitoring"
)

// probesOf returns the checks of a server that drains when ctx ends. It is ready if it can ask a backend of the chain.
func probesOf(ctx context.Context, chain *clichain.Chain) monitoring.Probes {
	return monitoring.Probes{
		Healthy: func() string {
			if ctx.Err() != nil {
				return "draining"
			}
			return ""
		},
		Ready: func(ctx context.Context) string { return monitoring.Unready(ctx, chain) },
	}
}
