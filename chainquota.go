package clichain

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// Quota returns the usage windows of the account of the backend b, as the store of the chain knows them now; see
// [quota.At]. It is empty if nothing is known, or if ChainConfig.Store is no [cooldown.QuotaStore]. Quota starts no
// process.
func (c *Chain) Quota(ctx context.Context, b Backend) (windows []call.QuotaWindow) {
	store, key, _ := c.quotaStore(b)
	if store == nil {
		return nil
	}
	known, _ := store.LoadQuota(ctx, key) // with an error nothing is known
	for _, w := range known.Windows {
		windows = append(windows, quota.At(w, time.Now()))
	}
	return windows
}

// AskQuota asks the CLI of the backend b for its usage windows, without a request to a model, and stores the report in
// the store of the chain. See [Provider.AskQuota]; the result is also empty if b is no Provider and wraps none.
func (c *Chain) AskQuota(ctx context.Context, b Backend) ([]call.QuotaWindow, error) {
	p := unwrapProvider(b)
	if p == nil {
		return nil, nil
	}
	windows, err := p.AskQuota(ctx)
	store, key, account := c.quotaStore(b)
	if err != nil || store == nil || len(windows) == 0 {
		return windows, err
	}
	return windows, store.UpdateQuota(ctx, key, func(q cooldown.Quota) cooldown.Quota {
		q.Account, q.Windows = account, quota.Merge(q.Windows, windows)
		if at, found := slices.BinarySearch(q.Backends, b.Name()); !found {
			q.Backends = slices.Insert(slices.Clone(q.Backends), at, b.Name())
		}
		return q
	})
}

// quotaStore returns the store of usage windows, and the key and the name of the account of the backend b. The store is
// nil if there is none, or if the backend has no account.
func (c *Chain) quotaStore(b Backend) (store cooldown.QuotaStore, key, account string) {
	store, _ = c.cfg.Store.(cooldown.QuotaStore)
	if key, account = candidateOf(b).Cooldown(Request{}).AccountKey(); key == "" {
		return nil, "", ""
	}
	return store, key, account
}
