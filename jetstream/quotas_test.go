package jetstream_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// reported returns an update that replaces the reports of an account.
func reported(used float64) func(cooldown.Quota) cooldown.Quota {
	now := time.Now().UTC().Round(0)
	return func(cooldown.Quota) cooldown.Quota {
		return cooldown.Quota{Account: "team", Backends: []string{"claude"}, Windows: []call.QuotaWindow{
			{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: now.Add(time.Hour), ObservedAt: now},
		}}
	}
}

// All clients know the windows that one of them has stored.
func TestQuotasOfFleet(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	one, other := openCooldowns(t, nc), openCooldowns(t, nc)
	require.NoError(t, one.Update(t.Context(), "a", func(cooldown.State) cooldown.State {
		return cooldown.State{Failures: 1, At: time.Now().UTC(), Until: time.Now().UTC().Add(time.Hour)}
	}))
	require.NoError(t, one.UpdateQuota(t.Context(), "a", reported(0.5)))
	own, err := one.LoadQuota(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 0.5, *own.Windows[0].Used, "a client reads its own write")
	for _, s := range []*jetstream.Cooldowns{other, openCooldowns(t, nc)} {
		require.Eventually(t, func() bool {
			quotas, err := s.Quotas(t.Context())
			return err == nil && len(quotas) == 1 && len(quotas["a"].Windows) == 1
		}, limit, time.Millisecond)
		q, err := s.LoadQuota(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, own, q)
		states, err := s.States(t.Context())
		require.NoError(t, err)
		require.Len(t, states, 1, "cooldowns have keys of their own")
	}
	status, err := open(t, nc, nil).Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Cooldowns, 1)

	require.NoError(t, other.UpdateQuota(t.Context(), "a", func(cooldown.Quota) cooldown.Quota { return cooldown.Quota{} }))
	require.Eventually(t, func() bool {
		q, err := one.LoadQuota(t.Context(), "a")
		return err == nil && len(q.Windows) == 0
	}, limit, time.Millisecond)
}

// No concurrent update of a Quota is lost.
func TestQuotaUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	require.NoError(t, openCooldowns(t, nc).UpdateQuota(t.Context(), "a", reported(0)))
	var all sync.WaitGroup
	for _, s := range []*jetstream.Cooldowns{openCooldowns(t, nc), openCooldowns(t, nc)} {
		for range 2 {
			all.Go(func() {
				for range 8 {
					for s.UpdateQuota(t.Context(), "a", func(q cooldown.Quota) cooldown.Quota {
						*q.Windows[0].Used += 1.0 / 64
						return q
					}) != nil { // on a busy machine, an update may reach its time limit
					}
				}
			})
		}
	}
	all.Wait()
	q, err := openCooldowns(t, nc).LoadQuota(t.Context(), "a")
	require.NoError(t, err)
	require.InDelta(t, 0.5, *q.Windows[0].Used, 1e-9)
}

// A client that knows no quotas reads every value of the bucket as a cooldown, and ignores those that it cannot read. A
// damaged value counts as none.
func TestQuotasBesideOlderClients(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	s := openCooldowns(t, nc)
	require.NoError(t, s.UpdateQuota(t.Context(), "a", reported(0.5)))
	server, err := js.New(nc)
	require.NoError(t, err)
	bucket, err := server.KeyValue(t.Context(), "clichain_cooldowns")
	require.NoError(t, err)
	keys, err := bucket.Keys(t.Context())
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.True(t, strings.HasPrefix(keys[0], "quota."))
	value, err := bucket.Get(t.Context(), keys[0])
	require.NoError(t, err)
	require.Error(t, json.Unmarshal(value.Value(), new(jetstream.Cooldown)))

	for _, damaged := range []string{"", "{", "[]", "[1]", `{"key":"a"}`, `[{"key":"a"},{"key":"a"}]`} {
		_, err = bucket.PutString(t.Context(), keys[0], damaged)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			quotas, err := s.Quotas(t.Context())
			return err == nil && len(quotas) == 0
		}, limit, time.Millisecond, damaged)
		require.NoError(t, s.UpdateQuota(t.Context(), "a", reported(0.5)), damaged)
		q, err := s.LoadQuota(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, q.Windows, 1, damaged)
	}
}
