package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/monitoring"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/spf13/pflag"
)

// Flags are the flags that worker and serve share.
type Flags struct {
	Jobs          int           // concurrency limit
	Grace         time.Duration // for requests in flight, after a signal
	Collector     string        // URL; "" for none
	Metrics       string        // address for Prometheus; "" for none
	Cold, LogJSON bool
}

// Register declares the flags and sets their defaults. One and many are the nouns for requests in the help text.
func (f *Flags) Register(flags *pflag.FlagSet, one, many string) {
	f.Jobs, f.Grace = DefaultSlots, DefaultGrace
	flags.FuncP("jobs", "j", fmt.Sprintf("`number`: limit of concurrent %s (default %d)", many, f.Jobs),
		param.Into(&f.Jobs, param.Count))
	flags.Func("grace", fmt.Sprintf("`duration`: time for %s in flight after a signal (default %v)", many, f.Grace),
		param.Into(&f.Grace, ParseGrace))
	AddTelemetryFlag(flags, &f.Collector)
	flags.Func("metrics-address", "serve /metrics for Prometheus, /livez, /healthz and /readyz without a token at this\n"+
		"`address`, such as 127.0.0.1:9464 (default none)", param.Into(&f.Metrics, monitoring.ParseAddress))
	flags.BoolVar(&f.Cold, "cold", false, fmt.Sprintf("start a new CLI process for each %s", one))
	flags.BoolVar(&f.LogJSON, "log-json", false, "write the log as JSON")
}

// Telemetry returns the receivers that the flags select.
func (f *Flags) Telemetry() telemetry.Config {
	return telemetry.Config{Collector: f.Collector, Scrape: f.Metrics != ""}
}

// ServeMetrics serves the metrics and the probes at the address of the flag, or does nothing without one.
func (f *Flags) ServeMetrics(
	ctx context.Context, log *slog.Logger, t *telemetry.Exporter, p monitoring.Probes,
) (stop func() error, err error) {
	l := monitoring.Listener{Flag: "--metrics-address", Message: "metrics are served", Address: f.Metrics}
	if f.Metrics != "" {
		l.Handler = monitoring.Handler(p, t.Handler(log))
	}
	return l.Listen(ctx, log)
}

// AddTelemetryFlag declares --otlp, the URL of a collector.
func AddTelemetryFlag(flags *pflag.FlagSet, collector *string) {
	flags.Func("otlp", "send spans and metrics to the OpenTelemetry collector at `url` (default none)",
		param.Into(collector, telemetry.ParseCollector))
}
