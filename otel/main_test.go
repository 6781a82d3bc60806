package otel_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/otel"
)

// TestMain lets the test binary play the fake CLIs that tests start.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

// seen is the data that a Telemetry has recorded.
type seen struct {
	*otel.Telemetry
	traces *trace.TracerProvider
	spans  *tracetest.SpanRecorder
	reader *metric.ManualReader
}

func watch(t *testing.T, change ...func(*otel.Config)) *seen {
	t.Helper()
	s := &seen{spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	s.traces = trace.NewTracerProvider(trace.WithSpanProcessor(s.spans))
	cfg := &otel.Config{
		TracerProvider: s.traces, MeterProvider: metric.NewMeterProvider(metric.WithReader(s.reader)),
		Propagator: propagation.TraceContext{},
	}
	for _, f := range change {
		f(cfg)
	}
	var err error
	s.Telemetry, err = otel.New(cfg)
	require.NoError(t, err)
	return s
}

func withContent(cfg *otel.Config) { cfg.Content = true }

// chain returns a wrapped chain that observes its calls.
func (s *seen) chain(cfg clichain.ChainConfig, backends ...clichain.Backend) clichain.Backend {
	return s.Backend(s.plainChain(cfg, backends...))
}

func (s *seen) plainChain(cfg clichain.ChainConfig, backends ...clichain.Backend) *clichain.Chain {
	cfg.Hooks = s.Hooks()
	return clichain.ChainOf(backends, &cfg)
}

// tree returns a line for each span, in the order of their starts. A line has the path from the root, the kind unless
// it is internal, and the status unless it is unset.
func (s *seen) tree(t *testing.T) (lines []string) {
	t.Helper()
	ended := s.spans.Ended()
	require.Len(t, ended, len(s.spans.Started()), "each span ends once")
	paths := map[api.SpanID]string{}
	for _, started := range s.spans.Started() {
		i := slices.IndexFunc(ended, func(e trace.ReadOnlySpan) bool { return sameSpan(e, started) })
		require.GreaterOrEqual(t, i, 0)
		span := ended[i]
		path := strings.TrimPrefix(paths[span.Parent().SpanID()]+" > "+span.Name(), " > ")
		paths[span.SpanContext().SpanID()] = path
		require.Equal(t, api.SpanKindInternal, span.SpanKind())
		require.False(t, span.EndTime().Before(span.StartTime()))
		if status := span.Status(); status.Code == codes.Error {
			path += " !" + status.Description
			require.Equal(t, status.Description, attributeOf(span.Attributes(), "error.type"))
		}
		for _, e := range span.Events() {
			who, why := attributeOf(e.Attributes, "gen_ai.agent.name"), attributeOf(e.Attributes, "error.type")
			path += fmt.Sprintf(" (%s %v %v)", e.Name, who, why)
		}
		lines = append(lines, path)
	}
	return lines
}

func sameSpan(a, b trace.ReadOnlySpan) bool { return a.SpanContext().Equal(b.SpanContext()) }

func attributeOf(attrs []attribute.KeyValue, key attribute.Key) any {
	for _, kv := range attrs {
		if kv.Key == key {
			return kv.Value.AsInterface()
		}
	}
	return nil
}

// attributes returns the attributes of the only span with the name.
func (s *seen) attributes(t *testing.T, name string) map[string]any {
	t.Helper()
	var found []trace.ReadOnlySpan
	for _, span := range s.spans.Ended() {
		if span.Name() == name {
			found = append(found, span)
		}
	}
	require.Len(t, found, 1, name)
	return plain(found[0].Attributes())
}

func plain(attrs []attribute.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range attrs {
		out[string(kv.Key)] = kv.Value.AsInterface()
	}
	return out
}

func (s *seen) metrics(t *testing.T) map[string]metricdata.Aggregation {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, s.reader.Collect(t.Context(), &data))
	out := map[string]metricdata.Aggregation{}
	for _, scope := range data.ScopeMetrics {
		require.Equal(t, "github.com/clichain/clichain/otel", scope.Scope.Name)
		for _, m := range scope.Metrics {
			out[m.Name] = m.Data
		}
	}
	return out
}

// all returns the points of each metric.
func (s *seen) all(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for name, data := range s.metrics(t) {
		out[name] = points(t, data)
	}
	return out
}

// points returns the values of a metric by its attributes. A counter has its sum, and a gauge its value. A histogram
// of integers has the number and the sum, and a histogram of seconds only the number.
func points(t *testing.T, data metricdata.Aggregation) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(set attribute.Set, format string, args ...any) { out[label(set)] = fmt.Sprintf(format, args...) }
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d", p.Value)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%g", p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d", p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%g", p.Value)
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d of %d", p.Sum, p.Count)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d", p.Count)
		}
	default:
		require.Fail(t, "no such metric", "%T", data)
	}
	return out
}

// label returns the values of a set that differ between the points of a test.
func label(set attribute.Set) string {
	var parts []string
	for _, kv := range set.ToSlice() {
		parts = append(parts, kv.Value.String())
	}
	return strings.Join(parts, " ")
}

const prompt, answer = "the secret question", "the secret answer"

type (
	config   = clichain.ChainConfig
	response = clichain.Response
	usage    = clichain.Usage
)

var (
	question = clichain.Prompt(prompt)
	fine     = answering("b", response{})
)

func answering(name string, resp clichain.Response) clichain.Backend {
	if resp.Text == "" {
		resp.Text = answer
	}
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &resp, nil
	})
}

// failing returns a backend whose errors contain texts that must not be recorded.
func failing(name string, reason clichain.Reason, usage clichain.Usage) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{
			Reason: reason, Message: prompt, Stderr: prompt, Partial: answer, Hint: prompt, Usage: usage,
		}
	})
}

// ask makes a call with Complete or Stream, which have the same result.
func ask(t *testing.T, b clichain.Backend, stream bool, req clichain.Request) (*clichain.Response, error) {
	t.Helper()
	if !stream {
		return b.Complete(t.Context(), req)
	}
	for e, err := range b.Stream(t.Context(), req) {
		if err != nil {
			return nil, err
		}
		if e.Kind == clichain.EventDone {
			return e.Response, nil
		}
	}
	return nil, nil
}
