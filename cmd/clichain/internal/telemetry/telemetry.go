// Package telemetry sends spans and metrics of calls and jobs to an OpenTelemetry collector.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Exporter sends spans and metrics of calls to a collector. A nil Exporter sends nothing.
type Exporter struct {
	*otel.Telemetry
	traces  *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
}

// ParseCollector validates the URL of an OTLP collector over HTTP.
func ParseCollector(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("write the http or https URL of a collector, such as http://127.0.0.1:4318")
	}
	return text, nil
}

// New makes the Exporter for the collector at a URL, or nil without a URL. It sends nothing before the first call. An
// unreachable collector fails no call.
func New(ctx context.Context, collector string) (*Exporter, error) {
	if collector == "" {
		return nil, nil
	}
	base, err := url.Parse(collector)
	if err != nil {
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	points, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base.JoinPath("v1/metrics").String()))
	if err != nil {
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these attributes.
	about, err := resource.New(ctx, resource.WithAttributes(serviceAttributes()...), resource.WithFromEnv(),
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Exporter{
		traces: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about)),
		metrics: sdkmetric.NewMeterProvider(
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points)), sdkmetric.WithResource(about),
		),
	}
	t.Telemetry, err = otel.New(&otel.Config{TracerProvider: t.traces, MeterProvider: t.metrics})
	return t, err
}

// serviceAttributes names this program. Without a name, a collector shows it as unknown_service.
func serviceAttributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("service.name", "clichain"), attribute.String("service.version", version.Read().Version),
	}
}

// Hooks returns the hooks for the chain that Wrap receives, or nil.
func (t *Exporter) Hooks() *clichain.Hooks {
	if t == nil {
		return nil
	}
	return t.Telemetry.Hooks()
}

// Wrap returns a backend that adds a span to each call.
func (t *Exporter) Wrap(chain clichain.Backend) clichain.Backend {
	if t == nil {
		return chain
	}
	return t.Backend(chain)
}

// context adds the trace of a job to ctx.
func (t *Exporter) context(ctx context.Context, trace map[string]string) context.Context {
	if t == nil {
		return ctx
	}
	return t.Extract(ctx, trace)
}

// Continue makes the trace in the values of ctx the parent of new spans.
func (t *Exporter) Continue(ctx context.Context) context.Context { return t.context(ctx, traceOf(ctx)) }

// OfEnvironment returns the trace of the environment variables TRACEPARENT and TRACESTATE, or nil.
func OfEnvironment(getenv func(string) string) map[string]string {
	return traceOf(call.WithTrace(context.Background(), getenv("TRACEPARENT"), getenv("TRACESTATE")))
}

// traceOf returns the trace in the values of ctx, or nil.
func traceOf(ctx context.Context) map[string]string {
	parent, state := call.TraceOf(ctx)
	if parent == "" {
		return nil
	}
	return map[string]string{"traceparent": parent, "tracestate": state}
}

// MeasureQueue adds the depth of a queue to the metrics.
func (t *Exporter) MeasureQueue(name string, q *jetstream.Queue) error {
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

// MeasureQuotas adds the usage windows of a store to the metrics. A store that has none, or nil, adds nothing.
func (t *Exporter) MeasureQuotas(store cooldown.Store) error {
	q, ok := store.(cooldown.QuotaStore)
	if t == nil || !ok {
		return nil
	}
	_, err := t.RegisterQuotas(q.Quotas)
	return err
}

// flushLimit limits how long Close waits for a collector.
const flushLimit = 5 * time.Second

// Close sends the remaining spans and metrics.
func (t *Exporter) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	return errors.Join(t.traces.Shutdown(ctx), t.metrics.Shutdown(ctx))
}
