package main

import (
	"context"
	"errors"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// telemetry sends spans and metrics of calls to an OpenTelemetry collector. A nil one sends nothing.
type telemetry struct {
	*otel.Telemetry
	traces  *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
}

// parseCollector takes the URL of a collector that speaks OTLP over HTTP.
func parseCollector(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("write the http or https URL of a collector, such as http://127.0.0.1:4318")
	}
	return text, nil
}

// newTelemetry makes what sends to a collector; without one it is nil. Nothing is sent before the first call, and a
// collector that is not there fails no call.
func newTelemetry(ctx context.Context, collector string) (*telemetry, error) {
	if collector == "" {
		return nil, nil
	}
	base, err := url.Parse(collector)
	if err != nil {
		return nil, usagef("--otlp: %v", err)
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, usagef("--otlp: %v", err)
	}
	points, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base.JoinPath("v1/metrics").String()))
	if err != nil {
		return nil, usagef("--otlp: %v", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these attributes.
	about, err := resource.New(ctx, resource.WithAttributes(serviceAttributes()...), resource.WithFromEnv(),
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, usagef("OTEL_RESOURCE_ATTRIBUTES: %v", err)
	}
	t := &telemetry{
		traces: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about)),
		metrics: sdkmetric.NewMeterProvider(
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points)), sdkmetric.WithResource(about),
		),
	}
	t.Telemetry, err = otel.New(&otel.Config{TracerProvider: t.traces, MeterProvider: t.metrics})
	return t, err
}

// serviceAttributes name this program. A collector calls a program without a name unknown_service.
func serviceAttributes() []attribute.KeyValue {
	info, _ := debug.ReadBuildInfo()
	return []attribute.KeyValue{
		attribute.String("service.name", "clichain"), attribute.String("service.version", buildInfoOf(info).Version),
	}
}

// hooks are for the chain that watched gets.
func (t *telemetry) hooks() *clichain.Hooks {
	if t == nil {
		return nil
	}
	return t.Hooks()
}

func (t *telemetry) watched(chain clichain.Backend) clichain.Backend {
	if t == nil {
		return chain
	}
	return t.Backend(chain)
}

// context makes a job's context from its trace.
func (t *telemetry) context(ctx context.Context, trace map[string]string) context.Context {
	if t == nil {
		return ctx
	}
	return t.Extract(ctx, trace)
}

// goOn makes a context go on with the trace that is named in it.
func (t *telemetry) goOn(ctx context.Context) context.Context { return t.context(ctx, traceOf(ctx)) }

// submitterTrace is the trace that the program belongs to, as whoever started it has said.
func (a *app) submitterTrace() map[string]string {
	return traceOf(call.WithTrace(context.Background(), a.env("TRACEPARENT"), a.env("TRACESTATE")))
}

// traceOf is the trace that is named in a context, nil for none.
func traceOf(ctx context.Context) map[string]string {
	parent, state := call.TraceOf(ctx)
	if parent == "" {
		return nil
	}
	return map[string]string{"traceparent": parent, "tracestate": state}
}

// queue has the depth of a queue measured.
func (t *telemetry) queue(name string, q *jetstream.Queue) error {
	if t == nil {
		return nil
	}
	_, err := t.RegisterQueue(name, func(ctx context.Context) (otel.QueueDepth, error) {
		d, err := q.Depth(ctx)
		ready := 0
		for _, n := range d.Ready {
			ready += n
		}
		return otel.QueueDepth{
			Ready: int64(ready), Running: int64(d.Running), Parked: int64(d.Parked), Failed: int64(d.Failed),
		}, err
	})
	return err
}

// flushLimit bounds how long the end of the program waits for a collector.
const flushLimit = 5 * time.Second

// close sends what was not sent yet.
func (t *telemetry) close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	return errors.Join(t.traces.Shutdown(ctx), t.metrics.Shutdown(ctx))
}
