// Package telemetry sends spans and metrics of calls and jobs to an OpenTelemetry collector, and has the metrics for
// Prometheus. Both have the same instruments.
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
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Exporter has the metrics of calls, and sends them and spans to a collector. A nil Exporter records nothing.
type Exporter struct {
	*otel.Telemetry
	traces   *sdktrace.TracerProvider // nil without a collector
	metrics  *sdkmetric.MeterProvider
	registry *prometheus.Registry // nil without Config.Scrape
}

// ParseCollector validates the URL of an OTLP collector over HTTP.
func ParseCollector(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("write the http or https URL of a collector, such as http://127.0.0.1:4318")
	}
	return text, nil
}

// Config selects the receivers of the telemetry. The zero value means none.
type Config struct {
	Collector string // URL of a collector for spans and metrics
	Scrape    bool   // keep the metrics for Handler
}

// New makes the Exporter, or nil without a receiver. It sends nothing before the first call. An unreachable collector
// fails no call.
func New(ctx context.Context, cfg Config) (*Exporter, error) {
	if cfg == (Config{}) {
		return nil, nil
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these attributes.
	about, err := resource.New(ctx, resource.WithAttributes(serviceAttributes()...), resource.WithFromEnv(),
		resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Exporter{}
	metrics := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithCardinalityLimit(maxSeries)}
	// Without a collector, calls continue the trace of their caller and add no span to it.
	var traces trace.TracerProvider = noop.NewTracerProvider()
	if cfg.Collector != "" {
		spans, points, err := collect(ctx, cfg.Collector)
		if err != nil {
			return nil, fmt.Errorf("--otlp: %w", err)
		}
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about))
		traces = t.traces
		metrics = append(metrics, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points)))
	}
	if cfg.Scrape {
		registry, reader, err := newScraper()
		if err != nil {
			return nil, err
		}
		t.registry = registry
		metrics = append(metrics, sdkmetric.WithReader(reader))
	}
	t.metrics = sdkmetric.NewMeterProvider(metrics...)
	t.Telemetry, err = otel.New(&otel.Config{TracerProvider: traces, MeterProvider: t.metrics})
	return t, err
}

// collect returns the exporters of spans and metrics for the collector at a URL.
func collect(ctx context.Context, collector string) (*otlptrace.Exporter, *otlpmetrichttp.Exporter, error) {
	base, err := url.Parse(collector)
	if err != nil {
		return nil, nil, err
	}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, nil, err
	}
	points, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base.JoinPath("v1/metrics").String()))
	return spans, points, err
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
	depth := newRecent(func(ctx context.Context) (otel.QueueDepth, error) {
		d, err := q.Depth(ctx)
		ready := 0
		for _, n := range d.Ready {
			ready += n
		}
		return otel.QueueDepth{
			Ready: int64(ready), Running: int64(d.Running), Parked: int64(d.Parked), Failed: int64(d.Failed),
			Oldest: d.Oldest,
		}, err
	})
	_, err := t.RegisterQueue(name, depth.get)
	return err
}

// MeasureChain adds the cooldowns of the backends of a chain to the metrics, and whether one can be asked.
func (t *Exporter) MeasureChain(chain *clichain.Chain) error {
	if t == nil {
		return nil
	}
	_, err := t.RegisterChain(chain)
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
	err := t.metrics.Shutdown(ctx)
	if t.traces != nil {
		err = errors.Join(t.traces.Shutdown(ctx), err)
	}
	return err
}
