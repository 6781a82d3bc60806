package otel_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/otel"
	"github.com/clichain/clichain/specs"
)

// span returns the only ended span with the name.
func (s *seen) span(t *testing.T, name string) (found trace.ReadOnlySpan) {
	t.Helper()
	for _, span := range s.spans.Ended() {
		if span.Name() == name {
			require.Nil(t, found, name)
			found = span
		}
	}
	require.NotNil(t, found, name)
	return found
}

// The span of a failed job and those of its call have the id of the job.
func TestSpansOfJob(t *testing.T) {
	s := watch(t)
	ctx, submitted := s.traces.Tracer("test").Start(t.Context(), "submit")
	ctx, job := s.StartJob(t.Context(), otel.Job{ID: "nightly-7", Queue: "nightly", Trace: s.Inject(ctx)})
	submitted.End()
	_, err := s.chain(config{}, failing("a", clichain.ReasonExit, usage{})).Complete(ctx, question)
	require.Error(t, err)
	job.End(otel.JobFailed, "exit")
	job.End(otel.JobAnswered, "") // after the call has ended
	span := s.span(t, "job nightly")
	require.Equal(t, api.SpanKindConsumer, span.SpanKind())
	require.Equal(t, submitted.SpanContext().SpanID(), span.Parent().SpanID())
	require.Equal(t, codes.Error, span.Status().Code)
	require.Equal(t, map[string]any{
		"clichain.job.id": "nightly-7", "clichain.queue.name": "nightly", "clichain.job.outcome": "failed", "error.type": "exit",
	}, plain(span.Attributes()))
	require.Equal(t, span.SpanContext().SpanID(), s.span(t, root).Parent().SpanID())
	for _, name := range []string{root, "invoke_agent a"} {
		require.Equal(t, "nightly-7", s.attributes(t, name)["clichain.job.id"], name)
		require.Equal(t, "nightly", s.attributes(t, name)["clichain.queue.name"], name)
	}
	for name, data := range s.metrics(t) {
		for set := range points(t, data) {
			require.NotContains(t, set, "nightly-7", "%s: a metric for each job", name)
		}
	}
}

// Each job of a batch has its own trace, with a link to the span of the batch.
func TestSpansOfBatch(t *testing.T) {
	s := watch(t)
	ctx, end := s.StartBatch(t.Context(), "b-1")
	carried := otel.WithBatch(s.Inject(ctx), "b-1")
	ctx, job := s.StartJob(t.Context(), otel.Job{ID: "batch.a", Queue: "q", Trace: carried})
	_, err := s.chain(config{}, fine).Complete(ctx, question)
	require.NoError(t, err)
	job.End(otel.JobAnswered, "")
	end("budget_spent")
	batch, span := s.span(t, "batch"), s.span(t, "job q")
	require.Equal(t, map[string]any{"clichain.batch.id": "b-1", "error.type": "budget_spent"}, plain(batch.Attributes()))
	require.NotEqual(t, batch.SpanContext().TraceID(), span.SpanContext().TraceID())
	require.False(t, span.Parent().IsValid())
	require.Len(t, span.Links(), 1)
	require.Equal(t, batch.SpanContext().SpanID(), span.Links()[0].SpanContext.SpanID())
	for _, name := range []string{"job q", root, "invoke_agent b"} {
		require.Equal(t, "b-1", s.attributes(t, name)["clichain.batch.id"], name)
	}

	require.Equal(t, map[string]string{"baggage": "clichain.batch.id=b%202"}, otel.WithBatch(nil, "b 2"))
	_, job = s.StartJob(t.Context(), otel.Job{ID: "x", Queue: "without", Trace: map[string]string{"baggage": "%%", "traceparent": "x"}})
	job.End(otel.JobParked, "usage_limit")
	require.Equal(t, map[string]any{
		"clichain.job.id": "x", "clichain.queue.name": "without", "clichain.job.outcome": "parked", "error.type": "usage_limit",
	}, s.attributes(t, "job without"))
	require.Equal(t, codes.Unset, s.span(t, "job without").Status().Code)
}

// The provider of a backend is also recorded for a failure.
func TestProviderName(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for slug, want := range map[string]any{
		"anthropic-cli": "anthropic", "google-cli": "gcp.gen_ai", "own": "own", "": nil,
	} {
		t.Run(slug, func(t *testing.T) {
			s := watch(t)
			spec := specs.Claude()
			spec.ProviderSlug = slug
			missing := clichain.NewProvider(spec, &clichain.Config{Binary: t.TempDir() + "/missing"})
			inside := clichain.ChainOf([]clichain.Backend{missing}, nil)
			c := s.chain(config{NoCooldown: true}, inside, answering("b", response{Provider: "openai-cli"}))
			_, err := c.Complete(t.Context(), question)
			require.NoError(t, err)
			require.Equal(t, "openai", s.attributes(t, "invoke_agent b")["gen_ai.provider.name"])
			require.Equal(t, "openai", s.attributes(t, root)["gen_ai.provider.name"])
			for _, e := range s.span(t, root).Events() {
				require.Equal(t, want, attributeOf(e.Attributes, "gen_ai.provider.name"))
			}
		})
	}
}

func TestMetricsOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		for _, j := range []struct {
			age     time.Duration
			outcome otel.JobOutcome
			reason  string
		}{
			{time.Minute, otel.JobAnswered, ""},
			{-time.Hour, otel.JobParked, "usage_limit"}, // the clock of another machine
			{0, otel.JobFailed, "exit\nclichain_job_outcomes 9"},
		} {
			_, span := s.StartJob(t.Context(), otel.Job{ID: "x", Queue: "q", Submitted: time.Now().Add(-j.age)})
			span.End(j.outcome, j.reason)
			span.End(otel.JobLeft, "")
		}
		_, span := s.StartJob(t.Context(), otel.Job{ID: "x", Queue: "q"})
		span.End(otel.JobLeft, "")
		all := s.metrics(t)
		require.Equal(t, map[string]string{
			"answered q": "1", "parked q usage_limit": "1", "failed q _OTHER": "1", "left q": "1",
		}, points(t, all["clichain.job.outcomes"]))
		wait := all["clichain.job.wait"].(metricdata.Histogram[float64]).DataPoints
		require.Len(t, wait, 1)
		require.Equal(t, uint64(3), wait[0].Count)
		require.InDelta(t, 60, wait[0].Sum, 1e-6)
	})
}
