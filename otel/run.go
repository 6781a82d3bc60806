package otel

import (
	"cmp"
	"time"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// run is one run of a backend and its span. The mutex of its call guards it.
type run struct {
	call    *chainCall
	backend string
	span    trace.Span
	start   time.Time

	ended    time.Time // zero while it runs
	answered bool      // answered, and waits for the answer event to name the model
	text     bool      // the first text has arrived
	model    string    // the answering model, if known
	provider string    // if known
	session  string
	usage    clichain.Usage
}

func (c *chainCall) newRun(backend string, at time.Time) *run {
	r := &run{call: c, backend: backend, start: at, provider: c.providers[backend]}
	_, r.span = c.t.tracer.Start(c.ctx, operationAttempt+" "+backend, trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(append(r.about(), c.job...)...), trace.WithTimestamp(at))
	return r
}

// about returns the attributes that the span and the metrics of the run share.
func (r *run) about() []attribute.KeyValue {
	attrs := []attribute.KeyValue{keyOperation.String(operationAttempt), keyAgent.String(r.backend)}
	attrs = appendText(attrs, keyProvider, r.provider)
	attrs = appendText(attrs, keyRequestModel, r.call.model)
	return appendText(attrs, keyResponseModel, r.model)
}

func (r *run) hears(e clichain.Event, now time.Time) {
	switch {
	case e.Kind == clichain.EventSession:
		r.model = cmp.Or(e.Model, r.model)
	case text(e) && !r.text:
		r.text = true
		r.call.t.firstText.Record(r.call.ctx, now.Sub(r.start).Seconds(), r.call.t.set(r.about()...))
	}
}

// end ends the span. An empty reason means an answer.
func (r *run) end(reason string) {
	if r.ended.IsZero() {
		r.ended = time.Now()
	}
	t, ctx := r.call.t, r.call.ctx
	about := r.about()
	attrs := append(usageAttributes(r.usage), about...)
	attrs = appendText(attrs, keyConversation, r.session)
	if reason != "" {
		about = append(about, keyError.String(reason))
		attrs = append(attrs, keyError.String(reason))
		r.span.SetStatus(codes.Error, reason)
		t.failures.Add(ctx, 1, t.set(agentAttributes(r.backend, reason)...))
	}
	t.duration.Record(ctx, r.ended.Sub(r.start).Seconds(), t.set(about...))
	t.countUsage(ctx, r)
	r.span.SetAttributes(attrs...)
	r.span.End(trace.WithTimestamp(r.ended))
}
