package otel

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Job names a job of a queue in spans. A plain value.
type Job struct {
	ID    string
	Queue string // its name
	// Trace is what [Telemetry.Inject] and [WithBatch] wrote down when the job was submitted.
	Trace map[string]string
}

// JobOutcome is what came of a job in the hands of a worker.
type JobOutcome string

// The outcomes of a job.
const (
	JobAnswered JobOutcome = "answered"
	JobFailed   JobOutcome = "failed" // for good
	JobParked   JobOutcome = "parked" // it goes back to the queue
	JobLeft     JobOutcome = "left"   // the worker could not say more
)

// JobSpan is the span of a job in the hands of a worker. It is safe for concurrent use.
type JobSpan struct {
	span trace.Span
	once sync.Once
}

// jobKey finds the attributes of a job in a context.
type jobKey struct{ *Telemetry }

// StartJob starts the span of a job, and returns the context for the calls of the job.
// Their spans are inside it, and have its id, its queue and its batch as attributes. The
// span goes on with the trace in which the job was submitted. That of a job of a batch
// begins a trace of its own, with a link to the span of the batch: a batch may have more
// jobs than a trace can hold. The span must be ended.
func (t *Telemetry) StartJob(ctx context.Context, job Job) (context.Context, *JobSpan) {
	attrs := []attribute.KeyValue{keyJob.String(job.ID), keyQueue.String(job.Queue)}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer)}
	ctx = t.Extract(ctx, job.Trace)
	if batch := batchOf(job.Trace); batch != "" {
		attrs = append(attrs, keyBatch.String(batch))
		options = append(options, trace.WithNewRoot())
		if from := trace.SpanContextFromContext(ctx); from.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
		}
	}
	ctx, span := t.tracer.Start(ctx, operationJob+" "+job.Queue, append(options, trace.WithAttributes(attrs...))...)
	return context.WithValue(ctx, jobKey{t}, slices.Clip(attrs)), &JobSpan{span: span}
}

// jobIn are the attributes of the job that a context belongs to.
func (t *Telemetry) jobIn(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(jobKey{t}).([]attribute.KeyValue)
	return attrs
}

// End ends the span. The reason says why there is no answer; empty: there is one, or it
// is not known. What comes after the first End counts for nothing.
func (s *JobSpan) End(outcome JobOutcome, reason string) {
	s.once.Do(func() {
		s.span.SetAttributes(appendText([]attribute.KeyValue{keyOutcome.String(string(outcome))}, keyError, reason)...)
		if outcome == JobFailed {
			s.span.SetStatus(codes.Error, reason)
		}
		s.span.End()
	})
}

// StartBatch starts the span of a batch of jobs, and returns a context with it, for
// [Telemetry.Inject]. end must be called; an empty reason says that nothing failed.
func (t *Telemetry) StartBatch(ctx context.Context, id string) (_ context.Context, end func(reason string)) {
	ctx, span := t.tracer.Start(ctx, operationBatch, trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(keyBatch.String(id)))
	return ctx, func(reason string) {
		if reason != "" {
			span.SetAttributes(keyError.String(reason))
			span.SetStatus(codes.Error, reason)
		}
		span.End()
	}
}

// WithBatch adds the id of a batch to the trace of its jobs, as W3C baggage. A trace that
// is nil is made; an id that baggage cannot hold is left out.
func WithBatch(headers map[string]string, id string) map[string]string {
	bag, _ := baggage.Parse(headers[baggageHeader]) // what is not well formed counts as none
	member, err := baggage.NewMemberRaw(string(keyBatch), id)
	if err == nil {
		bag, err = bag.SetMember(member)
	}
	if err != nil {
		return headers
	}
	out := map[string]string{baggageHeader: bag.String()}
	for name, value := range headers {
		if name != baggageHeader {
			out[name] = value
		}
	}
	return out
}

func batchOf(headers map[string]string) string {
	bag, _ := baggage.Parse(headers[baggageHeader])
	return bag.Member(string(keyBatch)).Value()
}

const baggageHeader = "baggage"
