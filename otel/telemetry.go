// Package otel records OpenTelemetry spans and metrics of the calls of a chain. It observes the calls through
// clichain's hooks and a wrapper around the chain, and does not affect them. It must not know a CLI by name, take part
// in the decisions of a chain, choose an exporter, or record prompts and answers unless Config.Content is set.
package otel

import (
	"context"
	"time"

	"github.com/clichain/clichain"
	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Config selects the destination of telemetry. The zero value works. [New] copies it.
type Config struct {
	// TracerProvider creates the spans. Nil means the global provider.
	TracerProvider trace.TracerProvider
	// MeterProvider creates the metrics. Nil means the global provider.
	MeterProvider metric.MeterProvider
	// Propagator encodes spans for [Telemetry.Inject] and [Telemetry.Extract]. Nil means the global propagator or, if
	// none is set, W3C trace context.
	Propagator propagation.TextMapPropagator
	// Content records the messages of requests and the texts of answers as attributes of the spans. They may contain
	// any text, including secrets. The default is false.
	Content bool
}

// Telemetry records spans and metrics. One Telemetry is enough for all chains of a program. Create it with [New]; the
// zero value does not work. It is safe for concurrent use.
type Telemetry struct {
	instruments
	tracer     trace.Tracer
	meter      metric.Meter
	propagator propagation.TextMapPropagator // nil for the global one
	content    bool
	hooks      *clichain.Hooks
}

// New returns a Telemetry. A nil cfg means defaults. New returns an error if a meter refuses an instrument.
func New(cfg *Config) (*Telemetry, error) {
	var c Config
	if cfg != nil {
		c = *cfg
	}
	if c.TracerProvider == nil {
		c.TracerProvider = api.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = api.GetMeterProvider()
	}
	t := &Telemetry{
		tracer:     c.TracerProvider.Tracer(scope, trace.WithSchemaURL(schemaURL)),
		meter:      c.MeterProvider.Meter(scope, metric.WithSchemaURL(schemaURL)),
		propagator: c.Propagator, content: c.Content,
	}
	var err error
	if t.instruments, err = newInstruments(t.meter); err != nil {
		return nil, err
	}
	t.hooks = t.makeHooks()
	return t, nil
}

// Hooks returns the hooks for ChainConfig.Hooks of the chain that [Telemetry.Backend] wraps, and of the chains inside
// it. They report the events of a call to the wrapper. For a call outside the wrapper they count only cooldowns. All
// results are the same pointer, so a run inside several chains counts once, even if [clichain.JoinHooks] adds other
// hooks.
func (t *Telemetry) Hooks() *clichain.Hooks { return t.hooks }

func (t *Telemetry) makeHooks() *clichain.Hooks {
	return &clichain.Hooks{
		AttemptStart: func(ctx context.Context, backend string) { t.callIn(ctx).attemptStarts(backend) },
		AttemptEnd:   func(ctx context.Context, a clichain.Attempt) { t.callIn(ctx).attemptEnds(a) },
		Event:        func(ctx context.Context, e clichain.Event) { t.callIn(ctx).hears(e) },
		Skip:         func(ctx context.Context, a clichain.Attempt) { t.callIn(ctx).skips(a) },
		Answer:       func(ctx context.Context, resp *clichain.Response) { t.callIn(ctx).hasAnswer(resp) },
		Cooldown: func(ctx context.Context, backend string, reason clichain.Reason, until time.Time) {
			t.countCooldown(ctx, backend, reason)
			t.callIn(ctx).coolsDown(backend, reason, until)
		},
	}
}

// callKey is the context key for the call of one Telemetry.
type callKey struct{ *Telemetry }

// callIn returns the call to which a context belongs. It returns nil, which ignores all events, if there is none.
func (t *Telemetry) callIn(ctx context.Context) *chainCall {
	c, _ := ctx.Value(callKey{t}).(*chainCall)
	return c
}

func (t *Telemetry) within(ctx context.Context, c *chainCall) context.Context {
	return context.WithValue(ctx, callKey{t}, c)
}
