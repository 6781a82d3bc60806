package otel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
)

// QueueDepth is how many jobs of a queue are in each state. A plain value; zero
// counts are recorded as such.
type QueueDepth struct {
	Ready   int64 // they wait for a worker
	Running int64 // a worker has them
	Parked  int64 // they wait for a time, such as the end of a limit
	Failed  int64 // they were given up
}

// RegisterQueue makes a gauge of a queue's jobs by state. read is called whenever
// metrics are collected, perhaps several times at once, until the registration is
// ended with its Unregister; it should be quick, and where it fails the collection
// has no values of the queue. The error is that of a nil read, or of a meter that
// refuses the callback.
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
