package service

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/telemetry"
	"github.com/spf13/pflag"
)

// Flags are the flags that worker and serve share.
type Flags struct {
	Jobs          int           // concurrency limit
	Grace         time.Duration // for requests in flight, after a signal
	Collector     string        // URL; "" for no telemetry
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
	flags.BoolVar(&f.Cold, "cold", false, fmt.Sprintf("start a new CLI process for each %s", one))
	flags.BoolVar(&f.LogJSON, "log-json", false, "write the log as JSON")
}

// AddTelemetryFlag declares --otlp, the URL of a collector.
func AddTelemetryFlag(flags *pflag.FlagSet, collector *string) {
	flags.Func("otlp", "send spans and metrics to the OpenTelemetry collector at `url` (default none)",
		param.Into(collector, telemetry.ParseCollector))
}
