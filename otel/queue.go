package otel

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// QueueDepth is the number of jobs of a queue in each state. It is a plain value. Zero counts are recorded as 0.
type QueueDepth struct {
	Ready   int64 // waiting for a worker
	Running int64 // in progress
	Parked  int64 // waiting for a time, such as the end of a limit
	Failed  int64 // failed permanently
	// Oldest is the time at which the oldest job that waits for a worker was submitted. Zero: no job waits for one.
	Oldest time.Time
}

// RegisterQueue creates the gauges of a queue. They have the jobs by state, the age of the oldest job that waits for a
// worker, and 1 if read succeeds. Without a waiting job, the age is 0. RegisterQueue calls read whenever metrics are
// collected, until Unregister of the registration. read must be safe for concurrent use and should be fast. If read
// fails, the last gauge is 0, and the others have no value. RegisterQueue returns an error if read is nil or the meter
// refuses the callback.
func (t *Telemetry) RegisterQueue(
	name string, read func(context.Context) (QueueDepth, error),
) (metric.Registration, error) {
	if read == nil {
		return nil, fmt.Errorf("otel: queue %q: read is nil", name)
	}
	observe := func(ctx context.Context, o metric.Observer) error {
		queue := keyQueue.String(name)
		depth, err := read(ctx)
		if err != nil {
			o.ObserveInt64(t.queueUp, 0, t.set(queue))
			return nil
		}
		o.ObserveInt64(t.queueUp, 1, t.set(queue))
		age := 0.0
		if !depth.Oldest.IsZero() {
			age = max(0, time.Since(depth.Oldest).Seconds()) // clocks differ
		}
		o.ObserveFloat64(t.queueOldest, age, t.set(queue))
		for state, n := range map[string]int64{
			"ready": depth.Ready, "running": depth.Running, "parked": depth.Parked, "failed": depth.Failed,
		} {
			o.ObserveInt64(t.queueJobs, n, t.set(queue, keyJobState.String(state)))
		}
		return nil
	}
	return t.meter.RegisterCallback(observe, t.queueJobs, t.queueUp, t.queueOldest)
}
