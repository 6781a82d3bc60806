package otel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

const (
	// maxQuotaSeries limits the series of each gauge, because their attributes come from stores and services.
	maxQuotaSeries = 512
	// maxQuotaName limits the length of the name of a window in bytes. Names of services are far shorter.
	maxQuotaName = 64
)

// RegisterQuotas creates the gauges of usage windows: the used share, and the seconds to the reset. read is the method
// Quotas of a [cooldown.QuotaStore], such as the store of the chains. RegisterQuotas calls read whenever metrics are
// collected, until Unregister of the registration. If read fails, the collection has no values of the store. A store
// may be registered only once. RegisterQuotas returns an error if read is nil or the meter refuses the callback.
//
// The attributes have the backend, the name of the window and, if it is set, the account. Logins without
// clichain.Config.Account are not distinguished: if a backend has several, its gauges have the fullest window.
func (t *Telemetry) RegisterQuotas(
	read func(context.Context) (map[string]cooldown.Quota, error),
) (metric.Registration, error) {
	if read == nil {
		return nil, errors.New("otel: quotas: read is nil")
	}
	observe := func(ctx context.Context, o metric.Observer) error {
		quotas, err := read(ctx)
		if err != nil {
			return fmt.Errorf("otel: quotas: %w", err)
		}
		now := time.Now()
		for set, w := range quotaSeries(quotas, now) {
			if w.Used != nil {
				o.ObserveFloat64(t.quotaUsed, *w.Used, metric.WithAttributeSet(set))
			}
			if !w.ResetsAt.IsZero() {
				o.ObserveFloat64(t.quotaReset, w.ResetsAt.Sub(now).Seconds(), metric.WithAttributeSet(set))
			}
		}
		return nil
	}
	return t.meter.RegisterCallback(observe, t.quotaUsed, t.quotaReset)
}

// quotaSeries returns the windows at a time by their attributes.
func quotaSeries(quotas map[string]cooldown.Quota, now time.Time) map[attribute.Set]call.QuotaWindow {
	series := map[attribute.Set]call.QuotaWindow{}
	for _, key := range slices.Sorted(maps.Keys(quotas)) {
		q := quotas[key]
		for _, backend := range q.Backends {
			for _, w := range q.Windows {
				attrs := []attribute.KeyValue{keyAgent.String(backend), keyWindow.String(w.Name)}
				set := attribute.NewSet(appendText(attrs, keyAccount, q.Account)...)
				known, ok := series[set]
				if !ok && len(series) == maxQuotaSeries || len(w.Name) > maxQuotaName {
					continue
				}
				if at := quota.At(w, now); !ok || fuller(at, known) {
					series[set] = at
				}
			}
		}
	}
	return series
}

// fuller reports whether more of a is used than of b.
func fuller(a, b call.QuotaWindow) bool {
	return a.Used != nil && (b.Used == nil || *a.Used > *b.Used)
}
