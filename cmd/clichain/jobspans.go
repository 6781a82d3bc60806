package main

import (
	"context"
	"errors"
	"sync"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/otel"
)

// jobSpans has a span for each job that a worker runs, from its start until it is answered, has failed, or goes back.
type jobSpans struct {
	t     *telemetry
	queue string

	mu   sync.Mutex
	open map[string]*otel.JobSpan // by the jobs' ids
}

// follow has a worker's jobs told to the collector, besides what cfg tells already.
func (t *telemetry) follow(cfg *jetstream.WorkConfig, queue string) {
	if t == nil {
		return
	}
	s := &jobSpans{t: t, queue: queue, open: map[string]*otel.JobSpan{}}
	park, result, end := cfg.OnPark, cfg.OnResult, cfg.OnEnd
	cfg.Context = s.begin
	cfg.OnPark = func(job *jetstream.Job, d jetstream.Delivery) {
		s.end(job, otel.JobParked, string(d.Reason))
		if park != nil {
			park(job, d)
		}
	}
	cfg.OnResult = func(r *jetstream.Result) {
		s.result(r)
		if result != nil {
			result(r)
		}
	}
	cfg.OnEnd = func(job *jetstream.Job) {
		if span := s.take(job.ID); span != nil {
			span.End(otel.JobLeft, "")
		}
		if end != nil {
			end(job)
		}
	}
}

func (s *jobSpans) begin(ctx context.Context, job *jetstream.Job) context.Context {
	ctx, span := s.t.StartJob(ctx, otel.Job{ID: job.ID, Queue: s.queue, Trace: job.Trace})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[job.ID] = span
	return ctx
}

func (s *jobSpans) take(id string) *otel.JobSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := s.open[id]
	delete(s.open, id)
	return span
}

// end ends the span of a job. One that never ran has a span that ends at once.
func (s *jobSpans) end(job *jetstream.Job, outcome otel.JobOutcome, reason string) {
	span := s.take(job.ID)
	if span == nil {
		_, span = s.t.StartJob(context.Background(), otel.Job{ID: job.ID, Queue: s.queue, Trace: job.Trace})
	}
	span.End(outcome, reason)
}

func (s *jobSpans) result(r *jetstream.Result) {
	switch job := r.Job; {
	case r.Failure == nil:
		s.end(&jetstream.Job{ID: r.ID}, otel.JobAnswered, "")
	case job == nil: // nobody could read it
		s.end(&jetstream.Job{ID: r.ID}, otel.JobFailed, string(r.Failure.Reason))
	default:
		s.end(job, otel.JobFailed, string(r.Failure.Reason))
	}
}

// batch starts the span of a batch, and returns what its jobs carry. end ends the span.
func (t *telemetry) batch(ctx context.Context, a *app) (trace map[string]string, end func(reason string)) {
	id := newID()
	if t == nil {
		return otel.WithBatch(a.submitterTrace(), id), func(string) {}
	}
	ctx, end = t.StartBatch(t.context(ctx, a.submitterTrace()), id)
	return otel.WithBatch(t.Inject(ctx), id), end
}

// batchReason is why a batch has not answered all of its lines, for its span; empty if it has.
func batchReason(s *batch.Summary, err error) string {
	switch {
	case err != nil:
		return "_OTHER"
	case errors.Is(s.Stopped, batch.ErrBudget):
		return string(clichain.ReasonTimeout)
	case s.Stopped != nil:
		return string(clichain.ReasonCanceled)
	case s.Failed > 0:
		return string(clichain.ReasonExit)
	}
	return ""
}
