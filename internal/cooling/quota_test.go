package cooling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// accountCall is a call of backend "a" with an account.
type accountCall struct {
	fakeCall
	none bool // the backend has no account
}

func (c accountCall) AccountKey() (key, account string) {
	if c.none {
		return "", ""
	}
	return "key", "account"
}

func (accountCall) UsesWindow(name string) bool { return name != "other" }

func TestObservedWindows(t *testing.T) {
	for name, store := range map[string]cooldown.QuotaStore{"memory": cooldown.NewMemory(), "shared": newShared(works)} {
		t.Run(name, func(t *testing.T) {
			k, _, now := clock(nil)
			k.Quotas = store
			used := 0.5
			reported := []call.QuotaWindow{{Name: "other", Used: &used}, {Name: "week", Used: &used, ObservedAt: now.Add(-time.Hour)}}
			k.Observe(t.Context(), accountCall{}, reported)
			k.Observe(t.Context(), accountCall{none: true}, []call.QuotaWindow{{Name: "lost"}})
			k.Observe(t.Context(), accountCall{}, nil)
			windows := k.AccountWindows(t.Context(), accountCall{})
			require.Len(t, windows, 2)
			observed := map[string]time.Time{}
			for _, w := range windows {
				observed[w.Name] = w.ObservedAt.UTC()
			}
			require.Equal(t, map[string]time.Time{"other": *now, "week": now.Add(-time.Hour)}, observed)
			require.Empty(t, k.AccountWindows(t.Context(), accountCall{none: true}))
			require.Len(t, k.Windows(t.Context(), accountCall{}), 1, "the call does not use the other window")
			known, err := store.LoadQuota(t.Context(), "key")
			require.NoError(t, err)
			require.Equal(t, "account", known.Account)
			require.Equal(t, []string{"a"}, known.Backends)
			none, err := store.LoadQuota(t.Context(), "")
			require.NoError(t, err)
			require.Empty(t, none)
		})
	}
	k, _, _ := clock(nil)
	k.Observe(t.Context(), accountCall{}, []call.QuotaWindow{{Name: "week"}}) // without a store, nothing happens
	require.Empty(t, k.AccountWindows(t.Context(), accountCall{}))
}

// A call that would use the reserve is refused, with the time at which the window is empty again.
func TestReservedCall(t *testing.T) {
	k, _, now := clock(nil)
	k.Quotas, k.Reserve = cooldown.NewMemory(), quota.Reserve{Share: 0.3}
	require.Nil(t, k.Skip(t.Context(), accountCall{}))
	used := 0.8
	k.Observe(t.Context(), accountCall{}, []call.QuotaWindow{{Name: "week", Used: &used, ResetsAt: now.Add(time.Hour)}})
	for _, refused := range []*call.Error{k.Skip(t.Context(), accountCall{}), second(k.Enter(t.Context(), accountCall{}))} {
		require.NotNil(t, refused)
		require.Equal(t, call.ReasonReserved, refused.Reason)
		require.Equal(t, "the rest of its plan is reserved "+UntilText(now.Add(time.Hour), *now), refused.Message)
		require.Equal(t, now.Add(time.Hour), refused.RetryAfter.UTC())
	}
	k.Reserve = quota.Reserve{}
	require.Nil(t, k.Skip(t.Context(), accountCall{}))
}

func second(_ *Entry, err *call.Error) *call.Error { return err }

func TestUntilText(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.Local)
	for in, want := range map[time.Duration]string{
		time.Minute: "until 12:01:00", 20 * time.Hour: "until 08:00:00", 20*time.Hour + 1: "until Fri 27 Nov 08:00",
	} {
		require.Equal(t, want, UntilText(now.Add(in), now))
	}
}
