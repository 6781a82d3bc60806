package cooldown

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

// Quota is what is known about the plan of one account. It is a plain value that can be stored as JSON. The zero value
// means that nothing is known.
type Quota struct {
	// Account is Config.Account of the backends. Empty: the key stands for the login.
	Account string `json:"account,omitempty"`
	// Backends are the names of the backends that reported the windows, sorted.
	Backends []string `json:"backends,omitempty"`
	// Windows are the last reports, one for each name.
	Windows []call.QuotaWindow `json:"windows,omitempty"`
}

// QuotaStore is a [Store] that also keeps what is known about the plans of accounts. All stores of this module are
// ones. The keys are those of accounts, and differ from the keys of cooldowns. The notes about errors, time limits and
// concurrent use in [Store] hold here too.
type QuotaStore interface {
	Store
	// LoadQuota returns the Quota of the key, or the zero Quota.
	LoadQuota(ctx context.Context, key string) (Quota, error)
	// UpdateQuota atomically replaces the Quota of the key with the result of change, as Update does for a State. A
	// result without windows removes the key.
	UpdateQuota(ctx context.Context, key string, change func(Quota) Quota) error
	// Quotas returns all keys with their values.
	Quotas(ctx context.Context) (map[string]Quota, error)
}

const (
	maxQuotas  = 128 // accounts in a store
	maxWindows = 32  // of an account, as for its backends
	maxName    = 200 // bytes of a name

	// quotaMemory is the time for which a store keeps a window after its end. The window of an account that is not used
	// for a week is still known to be empty.
	quotaMemory = 8 * 24 * time.Hour
)

// Kept returns a copy of the part of the Quota that a store keeps. It has at most 32 windows and 32 backends, with
// printable names of at most 200 bytes. It drops windows that ended more than 8 days ago, and the values that
// [quota.Clean] removes. Without windows, it returns the zero Quota.
func (q Quota) Kept(now time.Time) Quota {
	var kept Quota
	for _, w := range q.Windows {
		w = quota.Clean(w, now)
		known := slices.ContainsFunc(kept.Windows, func(k call.QuotaWindow) bool { return k.Name == w.Name })
		if w.Name != "" && isName(w.Name) && !known && now.Sub(end(w)) <= quotaMemory {
			kept.Windows = append(kept.Windows, w)
		}
	}
	if len(kept.Windows) == 0 {
		return Quota{}
	}
	if len(kept.Windows) > maxWindows {
		slices.SortStableFunc(kept.Windows, func(a, b call.QuotaWindow) int { return end(b).Compare(end(a)) })
		kept.Windows = kept.Windows[:maxWindows]
	}
	if isName(q.Account) {
		kept.Account = q.Account
	}
	names := slices.Sorted(slices.Values(q.Backends))
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" || !isName(name) })
	kept.Backends = names[:min(len(names), maxWindows)]
	return kept
}

// isName reports whether tables can show a name.
func isName(name string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	return len(name) <= maxName && !strings.ContainsFunc(name, hidden)
}

// end returns the latest end of a window that its report permits.
func end(w call.QuotaWindow) time.Time {
	if last := w.ObservedAt.Add(w.Length); last.After(w.ResetsAt) {
		return last
	}
	return w.ResetsAt
}

var quotaRules = rules[Quota]{
	field: "quotas",
	same:  func(a, b Quota) bool { return reflect.DeepEqual(a, b) },
	empty: func(q Quota) bool { return len(q.Windows) == 0 },
	prune: pruneQuotas,
}

// pruneQuotas replaces every Quota with the part that is kept, and removes those without reports for the longest time
// above maxQuotas.
func pruneQuotas(quotas map[string]Quota, now time.Time) {
	last := map[string]time.Time{}
	var keys []string
	for key, q := range quotas {
		q = q.Kept(now)
		if quotas[key] = q; len(q.Windows) == 0 {
			delete(quotas, key)
			continue
		}
		keys = append(keys, key)
		for _, w := range q.Windows {
			if w.ObservedAt.After(last[key]) {
				last[key] = w.ObservedAt
			}
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(last[a].Compare(last[b]), strings.Compare(a, b)) })
	for _, key := range keys[:max(len(keys)-maxQuotas, 0)] {
		delete(quotas, key)
	}
}
