package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// report is what the store knows about the plans of all accounts. It has no secrets.
type report struct {
	Accounts []account `json:"accounts"`
}

// account has the windows of one account.
type account struct {
	Key      string   `json:"key"`               // of the store
	Account  string   `json:"account,omitempty"` // empty: the key stands for a login
	Backends []string `json:"backends"`
	Windows  []window `json:"windows"`
}

// window is a usage window at the time of a report.
type window struct {
	Name       string    `json:"name"`
	Used       *float64  `json:"used"` // from 0 to 1; nil: unknown
	LengthMS   int64     `json:"length_ms,omitempty"`
	ResetsAt   time.Time `json:"resets_at,omitzero"`
	ObservedAt time.Time `json:"observed_at,omitzero"`
	// PerHour is the share that was used per hour, from the beginning of the window to the observation.
	PerHour *float64 `json:"used_per_hour,omitempty"`
	// UsedUpAt is the time at which the window is used up at that rate. Zero: unknown, or not before the reset.
	UsedUpAt time.Time `json:"used_up_at,omitzero"`
	// EmptySince is the reset after the observation. Zero: there was none.
	EmptySince time.Time `json:"empty_since,omitzero"`
}

func (w window) length() time.Duration { return time.Duration(w.LengthMS) * time.Millisecond }

// Report returns the report that "clichain usage --json" prints about the accounts of this user.
func Report(ctx context.Context, r *selection.Resolver) (any, error) {
	file, err := r.CooldownFile()
	if file == nil || err != nil {
		return reportOf(nil, time.Now()), err
	}
	quotas, err := file.Quotas(ctx)
	return reportOf(quotas, time.Now()), err
}

// reportOf returns the state of the accounts at a time, ordered by backends, and of their windows, the shortest first.
func reportOf(quotas map[string]cooldown.Quota, now time.Time) report {
	r := report{Accounts: []account{}}
	for _, key := range slices.Sorted(maps.Keys(quotas)) {
		q := quotas[key]
		a := account{Key: key, Account: q.Account, Backends: append([]string{}, q.Backends...), Windows: []window{}}
		for _, w := range q.Windows {
			a.Windows = append(a.Windows, windowAt(w, now))
		}
		slices.SortStableFunc(a.Windows, func(a, b window) int {
			return cmp.Or(cmp.Compare(uint64(a.LengthMS-1), uint64(b.LengthMS-1)), cmp.Compare(a.Name, b.Name)) // 0 last
		})
		r.Accounts = append(r.Accounts, a)
	}
	slices.SortStableFunc(r.Accounts, func(a, b account) int {
		return cmp.Or(slices.Compare(a.Backends, b.Backends), cmp.Compare(a.Account, b.Account))
	})
	return r
}

// windowAt returns the state of a window at a time, and what follows from its last observation.
func windowAt(w call.QuotaWindow, now time.Time) window {
	at := quota.At(w, now)
	out := window{
		Name: at.Name, Used: at.Used, LengthMS: at.Length.Milliseconds(), ResetsAt: at.ResetsAt, ObservedAt: at.ObservedAt,
	}
	if at.ObservedAt.After(w.ObservedAt) {
		out.ObservedAt, out.EmptySince = w.ObservedAt.UTC(), at.ObservedAt
		return out
	}
	if perHour, ok := quota.Rate(at, now); ok {
		out.PerHour = &perHour
		// The time does not depend on now, so a program that compares reports sees no change without an observation.
		out.UsedUpAt = quota.UsedUp(at, at.ObservedAt).Truncate(time.Second)
	}
	return out
}
