package otel

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/metric"
)

// RegisterChain creates the gauges of a chain. One gauge is 1 if a call without a model and a directory would ask a
// backend, else 0. The other has for each backend the seconds to the end of its cooldown, or 0. RegisterChain reads the
// chain whenever metrics are collected, until Unregister of the registration. It starts no process. It returns an
// error if chain is nil or the meter refuses the callback.
func (t *Telemetry) RegisterChain(chain *clichain.Chain) (metric.Registration, error) {
	if chain == nil {
		return nil, errors.New("otel: chain is nil")
	}
	observe := func(ctx context.Context, o metric.Observer) error {
		failure, _ := errors.AsType[*clichain.ChainError](chain.Ready(ctx))
		ready := int64(0)
		if failure == nil || failure.Note != "" { // the note reports that a call is possible
			ready = 1
		}
		o.ObserveInt64(t.chainReady, ready, t.set(keyWorkflow.String(chain.Name())))
		for _, b := range chain.Backends() {
			left := 0.0
			skip, _ := errors.AsType[*clichain.BackendError](chain.CoolingDown(ctx, b))
			if skip != nil && skip.Reason == clichain.ReasonCoolingDown {
				left = max(0, time.Until(skip.RetryAfter).Seconds())
			}
			o.ObserveFloat64(t.cooldownLeft, left, t.set(keyAgent.String(b.Name())))
		}
		return nil
	}
	return t.meter.RegisterCallback(observe, t.chainReady, t.cooldownLeft)
}
