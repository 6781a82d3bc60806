package otel

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Job identifies a job of a queue in spans. It is a plain value.
type Job struct {
	ID    string
	Queue string // name of the queue
	// Trace contains the headers that [Telemetry.Inject] and [WithBatch] wrote when the job was submitted.
	Trace map[string]string
	// Submitted is the time at which the job was submitted. Zero: unknown.
	Submitted time.Time
}

// JobOutcome is the result of a worker's attempt at a job.
type JobOutcome string

// The outcomes of an attempt.
const (
	JobAnswered JobOutcome = "answered"
	JobFailed   JobOutcome = "failed" // failed permanently
	JobParked   JobOutcome = "parked" // returned to the queue
	JobLeft     JobOutcome = "left"   // the worker reported no other outcome
)

// JobSpan is the span of a worker's attempt at a job. It is safe for concurrent use.
type JobSpan struct {
	t     *Telemetry
	queue string
	span  trace.Span
	once  sync.Once
}

// jobKey is the context key for the attributes of a job.
type jobKey struct{ *Telemetry }

// StartJob starts the span of a job, and returns the context for the calls of the job. Their spans are children of it,
// and have the job's id, queue and batch as attributes. The span belongs to the trace in which the job was submitted.
// The span of a job in a batch starts its own trace, because a batch may have more jobs than a trace can hold. It
// links to the span of the batch. A metric gets the time since the submission, if it is known. Call End on the
// span.
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
	if !job.Submitted.IsZero() {
		wait := max(0, time.Since(job.Submitted).Seconds()) // clocks differ
		t.jobWait.Record(ctx, wait, t.set(keyQueue.String(job.Queue)))
	}
	return context.WithValue(ctx, jobKey{t}, slices.Clip(attrs)), &JobSpan{t: t, queue: job.Queue, span: span}
}

// jobIn returns the attributes of the job to which a context belongs.
func (t *Telemetry) jobIn(ctx context.Context) []attribute.KeyValue {
	attrs, _ := ctx.Value(jobKey{t}).([]attribute.KeyValue)
	return attrs
}

// End ends the span and counts the outcome. reason is the reason why there is no answer; it is empty if there is an
// answer or the reason is unknown. Later calls have no effect.
func (s *JobSpan) End(outcome JobOutcome, reason string) {
	s.once.Do(func() {
		s.span.SetAttributes(appendText([]attribute.KeyValue{keyOutcome.String(string(outcome))}, keyError, reason)...)
		if outcome == JobFailed {
			s.span.SetStatus(codes.Error, reason)
		}
		s.span.End()
		attrs := []attribute.KeyValue{keyQueue.String(s.queue), keyOutcome.String(string(outcome))}
		if reason != "" {
			attrs = append(attrs, keyError.String(known(clichain.Reason(reason))))
		}
		s.t.jobOutcomes.Add(context.Background(), 1, s.t.set(attrs...))
	})
}

// CountJob adds the known cost of a job with a result to that of its owner. An empty owner means that the job has none.
// A cost of zero or less adds nothing.
func (t *Telemetry) CountJob(ctx context.Context, queue, owner string, costUSD float64) {
	if costUSD <= 0 {
		return
	}
	attrs := []attribute.KeyValue{keyQueue.String(queue)}
	if owner != "" {
		attrs = append(attrs, keyOwner.String(owner))
	}
	t.jobCost.Add(ctx, costUSD, t.set(attrs...))
}

// StartBatch starts the span of a batch of jobs, and returns a context with it for [Telemetry.Inject]. Call end with
// the reason of a failure, or with an empty reason.
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

// WithBatch adds the id of a batch to the trace of its jobs, as W3C baggage. It creates a map for nil headers. It omits
// an id that baggage cannot represent.
func WithBatch(headers map[string]string, id string) map[string]string {
	bag, _ := baggage.Parse(headers[baggageHeader]) // ignores invalid baggage
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
