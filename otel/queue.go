package otel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
)

// QueueDepth is the number of jobs of a queue in each state. It is a plain value. Zero counts are recorded as 0.
type QueueDepth struct {
	Ready   int64 // waiting for a worker
	Running int64 // in progress
	Parked  int64 // waiting for a time, such as the end of a limit
	Failed  int64 // failed permanently
}

// RegisterQueue creates a gauge of the jobs of a queue by state. It calls read whenever metrics are collected, until
// Unregister of the registration. read must be safe for concurrent use and should be fast. If read fails, the
// collection has no values of the queue. RegisterQueue returns an error if read is nil or the meter refuses the
// callback.
func (t *Telemetry) RegisterQueue(
	name string, read func(context.Context) (QueueDepth, error),
) (metric.Registration, error) {
	if read == nil {
		return nil, fmt.Errorf("otel: queue %q: read is nil", name)
	}
	observe := func(ctx context.Context, o metric.Observer) error {
		depth, err := read(ctx)
		if err != nil {
			return fmt.Errorf("otel: queue %q: %w", name, err)
		}
		for state, n := range map[string]int64{
			"ready": depth.Ready, "running": depth.Running, "parked": depth.Parked, "failed": depth.Failed,
		} {
			o.ObserveInt64(t.queueJobs, n, metric.WithAttributes(keyQueue.String(name), keyJobState.String(state)))
		}
		return nil
	}
	return t.meter.RegisterCallback(observe, t.queueJobs)
}
