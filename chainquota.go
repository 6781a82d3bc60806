package clichain

import (
	"context"

	"github.com/clichain/clichain/call"
)

// Quota returns the usage windows of the account of the backend b, as the chain knows them now; see package quota. It
// is empty if nothing is known. Quota starts no process.
func (c *Chain) Quota(ctx context.Context, b Backend) []call.QuotaWindow {
	if c.cooldown == nil { // the zero Chain
		return nil
	}
	return c.cooldown.AccountWindows(ctx, candidateOf(b).Cooldown(Request{}))
}

// AskQuota asks the CLI of the backend b for its usage windows, without a request to a model, and stores the report in
// the store of the chain. See [Provider.AskQuota]; the result is also empty if b is no Provider and wraps none.
func (c *Chain) AskQuota(ctx context.Context, b Backend) ([]call.QuotaWindow, error) {
	p := unwrapProvider(b)
	if p == nil {
		return nil, nil
	}
	windows, err := p.AskQuota(ctx)
	if err == nil && c.cooldown != nil {
		c.cooldown.Observe(ctx, candidateOf(b).Cooldown(Request{}), windows)
	}
	return windows, err
}
