package otel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
)

// remember adds a Quota to a store.
func remember(t *testing.T, store cooldown.QuotaStore, key string, q cooldown.Quota) {
	t.Helper()
	require.NoError(t, store.UpdateQuota(t.Context(), key, func(cooldown.Quota) cooldown.Quota { return q }))
}

func fiveHours(used float64, left time.Duration) []call.QuotaWindow {
	now := time.Now()
	return []call.QuotaWindow{
		{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: now.Add(left), ObservedAt: now},
	}
}

func TestQuotaGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := watch(t), cooldown.NewMemory()
		registration, err := s.RegisterQuotas(store.Quotas)
		require.NoError(t, err)
		require.Empty(t, s.metrics(t))
		now := time.Now()
		remember(t, store, "team's key", cooldown.Quota{
			Account: "team", Backends: []string{"claude", "claude-fast"}, Windows: fiveHours(0.25, 2*time.Hour),
		})
		remember(t, store, "key of a login", cooldown.Quota{Backends: []string{"codex"}, Windows: []call.QuotaWindow{
			{Name: "primary", Used: new(0.5), ObservedAt: now},                 // unknown reset
			{Name: "secondary", ResetsAt: now.Add(time.Hour), ObservedAt: now}, // unknown use
		}})
		require.Equal(t, map[string]map[string]string{
			"clichain.quota.used": {
				"team five_hour claude": "0.25", "team five_hour claude-fast": "0.25", "primary codex": "0.5",
			},
			"clichain.quota.reset": {
				"team five_hour claude": "7200", "team five_hour claude-fast": "7200", "secondary codex": "3600",
			},
		}, s.all(t))
		time.Sleep(time.Hour)
		require.Equal(t, "3600", s.all(t)["clichain.quota.reset"]["team five_hour claude"])
		time.Sleep(time.Hour)
		got := s.all(t)
		require.Equal(t, "0", got["clichain.quota.used"]["team five_hour claude"], "empty after the reset")
		require.NotContains(t, got["clichain.quota.reset"], "team five_hour claude")
		require.NoError(t, registration.Unregister())
		require.Empty(t, s.metrics(t))
	})
}

// Two logins of one backend have the same attributes, so the gauge has the fuller one.
func TestQuotaGaugesOfSeveralLogins(t *testing.T) {
	s, store := watch(t), cooldown.NewMemory()
	_, err := s.RegisterQuotas(store.Quotas)
	require.NoError(t, err)
	for key, used := range map[string]float64{"a": 0.2, "b": 0.9, "c": 0.4} {
		remember(t, store, key, cooldown.Quota{Backends: []string{"claude"}, Windows: fiveHours(used, time.Hour)})
	}
	require.Equal(t, map[string]string{"five_hour claude": "0.9"}, points(t, s.metrics(t)["clichain.quota.used"]))
}

func TestQuotaGaugesAreBounded(t *testing.T) {
	s := watch(t)
	quotas := map[string]cooldown.Quota{"long": {Backends: []string{"a"}, Windows: []call.QuotaWindow{
		{Name: strings.Repeat("x", 65), Used: new(0.5), ObservedAt: time.Now()},
	}}}
	_, err := s.RegisterQuotas(func(context.Context) (map[string]cooldown.Quota, error) { return quotas, nil })
	require.NoError(t, err)
	require.Empty(t, s.metrics(t))
	for i := range 600 {
		account := fmt.Sprint(i)
		quotas[account] = cooldown.Quota{Account: account, Backends: []string{"claude"}, Windows: fiveHours(0.5, time.Hour)}
	}
	metrics := s.metrics(t)
	require.NotEmpty(t, metrics)
	for _, data := range metrics {
		require.Len(t, data.(metricdata.Gauge[float64]).DataPoints, 512)
	}
}

func TestQuotaGaugesOfFailingStore(t *testing.T) {
	s := watch(t)
	broken := errors.New("broken")
	_, err := s.RegisterQuotas(func(context.Context) (map[string]cooldown.Quota, error) { return nil, broken })
	require.NoError(t, err)
	var data metricdata.ResourceMetrics
	require.ErrorIs(t, s.reader.Collect(t.Context(), &data), broken)
	_, err = s.RegisterQuotas(nil)
	require.ErrorContains(t, err, "read is nil")
}
