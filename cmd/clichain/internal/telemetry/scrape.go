package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

const (
	// maxSeries limits the series of each metric. The SDK adds later ones up in a series with otel_metric_overflow.
	maxSeries = 1000
	// scrapeLimit limits the time to collect the metrics, and maxScrapes how many scrapes do so at once.
	scrapeLimit = 10 * time.Second
	maxScrapes  = 4
)

// newScraper returns a registry and the reader that copies the metrics of OpenTelemetry into it at each scrape.
func newScraper() (*prometheus.Registry, sdkmetric.Reader, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(),
		exporter.WithoutTargetInfo(), exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, nil, err
	}
	build := version.Read()
	err = registerAll(registry,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "clichain_build_info", Help: "1, with the build of this program.",
			ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "go": build.Go},
		}, func() float64 { return 1 }))
	return registry, reader, err
}

func registerAll(registry *prometheus.Registry, list ...prometheus.Collector) error {
	for _, c := range list {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Handler returns the handler of /metrics for Config.Scrape. An error while collecting a metric omits this metric.
func (t *Exporter) Handler(log *slog.Logger) http.Handler {
	return t.handlerWithin(scrapeLimit, log)
}

// handlerWithin returns a Handler that responds within limit, also if a gauge does not return.
func (t *Exporter) handlerWithin(limit time.Duration, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		Timeout: limit, MaxRequestsInFlight: maxScrapes,
	})
}

const (
	// depthAge is how old the depth of a queue may be, so that frequent scrapes cost the server nothing.
	depthAge = 5 * time.Second
	// depthLimit limits the time to read it, also if the server does not respond.
	depthLimit = 2 * time.Second
)

// recent keeps a value, or the error of reading it, for depthAge. Concurrent calls of get read it once.
type recent[V any] struct {
	read func(context.Context) (V, error)

	lock  chan struct{} // guards the fields below; it has a capacity of one
	at    time.Time
	value V
	err   error
}

func newRecent[V any](read func(context.Context) (V, error)) *recent[V] {
	return &recent[V]{read: read, lock: make(chan struct{}, 1)}
}

func (r *recent[V]) get(ctx context.Context) (V, error) {
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	if r.at.IsZero() || time.Since(r.at) >= depthAge {
		ctx, cancel := context.WithTimeout(ctx, depthLimit)
		defer cancel()
		r.value, r.err = r.read(ctx)
		r.at = time.Now()
	}
	return r.value, r.err
}
