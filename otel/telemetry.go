// Package otel makes OpenTelemetry spans and metrics of the calls of a chain. It
// hears of them through clichain's hooks and a wrapper around the chain, and
// changes nothing of what a call does. It must never know a CLI by its name, take
// part in the decisions of a chain, choose an exporter, or record what was asked
// and answered unless Config.Content says so.
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

// Config says where telemetry goes. The zero value works. It is copied by [New].
type Config struct {
	// TracerProvider makes the spans. Nil: the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Nil: the global one.
	MeterProvider metric.MeterProvider
	// Propagator is how [Telemetry.Inject] and [Telemetry.Extract] write a span
	// down. Nil: the global one, and where none is set, the W3C's trace context.
	Propagator propagation.TextMapPropagator
	// Content records the messages of requests and the texts of answers as
	// attributes of the spans of calls. They may hold anything, secrets too.
	// False: never.
	Content bool
}

// Telemetry makes spans and metrics. One is enough for all chains of a program.
// [New] makes it; the zero value does not work. It is safe for concurrent use.
type Telemetry struct {
	instruments
	tracer     trace.Tracer
	meter      metric.Meter
	propagator propagation.TextMapPropagator // nil: the global one
	content    bool
	hooks      *clichain.Hooks
}

// New makes a Telemetry. A nil cfg means defaults. The error is that of a meter
// that refuses an instrument.
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

// Hooks are for ChainConfig.Hooks of the chain that [Telemetry.Backend] wraps, and
// of the chains inside it. They tell the wrapper what happens during a call. Of a
// call that did not come through the wrapper they count the cooldowns alone. All
// results are one pointer, so a run inside several chains counts once, also if
// [clichain.JoinHooks] adds others to some of them.
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

// callKey finds the call of one Telemetry in a context.
type callKey struct{ *Telemetry }

// callIn is the call that a context belongs to; nil, which hears nothing, where
// there is none.
func (t *Telemetry) callIn(ctx context.Context) *chainCall {
	c, _ := ctx.Value(callKey{t}).(*chainCall)
	return c
}

func (t *Telemetry) within(ctx context.Context, c *chainCall) context.Context {
	return context.WithValue(ctx, callKey{t}, c)
}
