package telemetry

import (
	"context"
	"sync"

	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/otel"
	"github.com/google/uuid"
)

// jobSpans has a span for each running job of a worker. A span ends when the job is answered, failed or returned.
type jobSpans struct {
	t     *Exporter
	queue string

	mu   sync.Mutex
	open map[string]*otel.JobSpan // by job id
}

// ObserveJobs adds a span for each job of a worker. It keeps the functions that cfg already has.
func (t *Exporter) ObserveJobs(cfg *jetstream.WorkConfig, queue string) {
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
	ctx, span := s.t.StartJob(ctx, otel.Job{
		ID: job.ID, Queue: s.queue, Trace: job.Trace, Submitted: job.Submitted,
	})
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

// end ends the span of a job. The span of a job that never ran starts and ends here.
func (s *jobSpans) end(job *jetstream.Job, outcome otel.JobOutcome, reason string) {
	span := s.take(job.ID)
	if span == nil {
		_, span = s.t.StartJob(context.Background(), otel.Job{ID: job.ID, Queue: s.queue, Trace: job.Trace})
	}
	span.End(outcome, reason)
}

func (s *jobSpans) result(r *jetstream.Result) {
	if usd := r.Usage().CostUSD; usd != nil {
		s.t.CountJob(context.Background(), s.queue, r.Owner, *usd)
	}
	switch job := r.Job; {
	case r.Failure == nil:
		s.end(&jetstream.Job{ID: r.ID}, otel.JobAnswered, "")
	case job == nil: // the job could not be decoded
		s.end(&jetstream.Job{ID: r.ID}, otel.JobFailed, string(r.Failure.Reason))
	default:
		s.end(job, otel.JobFailed, string(r.Failure.Reason))
	}
}

// StartBatch starts the span of a batch in a trace, or in a new one if it is nil. It returns the trace for the jobs.
// End ends the span with the reason why lines have no answer.
func (t *Exporter) StartBatch(
	ctx context.Context, trace map[string]string,
) (carried map[string]string, end func(reason string)) {
	id := uuid.NewString()
	if t == nil {
		return otel.WithBatch(trace, id), func(string) {}
	}
	ctx, end = t.Telemetry.StartBatch(t.context(ctx, trace), id)
	return otel.WithBatch(t.Inject(ctx), id), end
}
