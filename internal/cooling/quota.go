package cooling

import (
	"context"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// AccountWindows returns the usage windows of a call's account as they are known now. Nil: nothing is known.
func (k *Keeper) AccountWindows(ctx context.Context, c Call) (windows []call.QuotaWindow) {
	now := k.now()
	for _, w := range k.loadQuota(ctx, c) {
		windows = append(windows, quota.At(w, now))
	}
	return windows
}

// Windows returns the usage windows that a call may use.
func (k *Keeper) Windows(ctx context.Context, c Call) []call.QuotaWindow {
	return slices.DeleteFunc(k.AccountWindows(ctx, c), func(w call.QuotaWindow) bool { return !c.UsesWindow(w.Name) })
}

// loadQuota returns the last reports. If the store fails, nothing is known.
func (k *Keeper) loadQuota(ctx context.Context, c Call) []call.QuotaWindow {
	key, _ := c.AccountKey()
	if k.Quotas == nil || key == "" {
		return nil
	}
	if m, ok := k.Quotas.(*cooldown.Memory); ok {
		known, _ := m.LoadQuota(ctx, key)
		return known.Windows
	}
	known, err := use(ctx, k, func(ctx context.Context, _ *access[cooldown.Quota]) (cooldown.Quota, error) {
		return k.Quotas.LoadQuota(ctx, key)
	})
	if err != nil {
		k.logError(ctx, err)
	}
	return known.Windows
}

// Observe stores what a call reported about the usage windows of its account, even if the call was canceled. A report
// without a time is about now.
func (k *Keeper) Observe(ctx context.Context, c Call, windows []call.QuotaWindow) {
	if len(windows) == 0 || k.Quotas == nil {
		return
	}
	key, account := c.AccountKey()
	if key == "" {
		return
	}
	now := k.now()
	reported := make([]call.QuotaWindow, len(windows))
	for i, w := range windows {
		if w.ObservedAt.IsZero() {
			w.ObservedAt = now
		}
		reported[i] = quota.At(w, now) // a copy, because the caller gets the original
	}
	add := func(known cooldown.Quota) cooldown.Quota {
		known.Account = account
		if at, found := slices.BinarySearch(known.Backends, c.Name()); !found {
			known.Backends = slices.Insert(slices.Clone(known.Backends), at, c.Name())
		}
		known.Windows = quota.Merge(known.Windows, reported)
		return known
	}
	ctx = context.WithoutCancel(ctx)
	if m, ok := k.Quotas.(*cooldown.Memory); ok {
		_ = m.UpdateQuota(ctx, key, add)
		return
	}
	_, err := use(ctx, k, func(ctx context.Context, a *access[cooldown.Quota]) (q cooldown.Quota, err error) {
		return q, k.Quotas.UpdateQuota(ctx, key, a.guarded(add))
	})
	if err != nil {
		k.logError(ctx, err)
	}
}

// reserved returns the error of a call that would use the reserved share of a plan, else nil.
func (k *Keeper) reserved(ctx context.Context, c Call) *call.Error {
	if k.Reserve.IsZero() {
		return nil
	}
	now := k.now()
	until, ok := k.Reserve.Check(c.Name(), k.Windows(ctx, c), now)
	if ok {
		return nil
	}
	err := call.Errorf(call.ReasonReserved, "", "the rest of its plan is reserved")
	if !until.IsZero() {
		err.Message += " " + UntilText(until, now)
	}
	err.Backend, err.RetryAfter, err.Stage = c.Name(), until, call.StageSkipped
	return err
}
