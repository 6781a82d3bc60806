package otel

import (
	"context"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
)

// Inject writes the span of the context down, so that it can wait in a queue with
// a job: as "traceparent" and "tracestate" unless Config.Propagator says
// otherwise. The result is nil where there is no span. It is safe for concurrent
// use.
func (t *Telemetry) Inject(ctx context.Context) map[string]string {
	headers := propagation.MapCarrier{}
	t.propagation().Inject(ctx, headers)
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// Extract returns a context with the span that [Telemetry.Inject] wrote down, to
// which the calls made with it then belong. What is not well formed counts as
// none. It is safe for concurrent use.
func (t *Telemetry) Extract(ctx context.Context, headers map[string]string) context.Context {
	return t.propagation().Extract(ctx, propagation.MapCarrier(headers))
}

// propagation is looked up at each use: a program may set the global propagator
// after this package was set up. Without one it writes nothing, which would cut
// all traces at the queue.
func (t *Telemetry) propagation() propagation.TextMapPropagator {
	if t.propagator != nil {
		return t.propagator
	}
	if global := api.GetTextMapPropagator(); len(global.Fields()) > 0 {
		return global
	}
	return propagation.TraceContext{}
}
