package otel

import (
	"context"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
)

// Inject returns the span of the context as headers, so that it can wait in a queue with a job: "traceparent" and
// "tracestate", unless Config.Propagator selects others. The result is nil if there is no span. It is safe for
// concurrent use.
func (t *Telemetry) Inject(ctx context.Context) map[string]string {
	headers := propagation.MapCarrier{}
	t.propagation().Inject(ctx, headers)
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// Extract returns a context with the span from headers that [Telemetry.Inject] wrote. Calls with that context belong to
// the span. It ignores invalid headers. It is safe for concurrent use.
func (t *Telemetry) Extract(ctx context.Context, headers map[string]string) context.Context {
	return t.propagation().Extract(ctx, propagation.MapCarrier(headers))
}

// propagation returns the propagator. It reads the global one at each use, because a program may set it after New. If
// none is set, it uses W3C trace context: an empty propagator would cut all traces at the queue.
func (t *Telemetry) propagation() propagation.TextMapPropagator {
	if t.propagator != nil {
		return t.propagator
	}
	if global := api.GetTextMapPropagator(); len(global.Fields()) > 0 {
		return global
	}
	return propagation.TraceContext{}
}
