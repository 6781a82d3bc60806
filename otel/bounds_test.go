package otel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/clichain/clichain"
)

// TestMetricsBoundValues checks that requests with many different models add a limited number of series, that the known
// models keep theirs, and that the spans have the original names.
func TestMetricsBoundValues(t *testing.T) {
	s := watch(t)
	ask := func(model string) {
		req := question
		req.Model = model
		_, err := s.chain(config{}, answering("b", response{Model: model})).Complete(t.Context(), req)
		require.NoError(t, err)
	}
	const models = 1000
	for i := range models {
		ask(fmt.Sprint("model-", i))
	}
	ask("model-0")
	series := points(t, s.metrics(t)["gen_ai.client.operation.duration"])
	require.Len(t, series, 2*101)
	require.Equal(t, "2", series["b invoke_agent model-0 model-0"])
	require.Equal(t, fmt.Sprint(models-100), series["b invoke_agent _OTHER _OTHER"])
	last := s.spans.Ended()[2*models-1]
	require.Equal(t, "model-999", attributeOf(last.Attributes(), "gen_ai.response.model"))
}

// TestMetricsReplaceUnprintableValues checks that a name cannot end a line of a text format, or make an export invalid.
func TestMetricsReplaceUnprintableValues(t *testing.T) {
	s := watch(t)
	for _, name := range []string{"a\nclichain_cost 1", "\xff", "\x1b[31m", "a\u2028b", strings.Repeat("x", 129)} {
		_, err := s.chain(config{}, failing(name, clichain.Reason(name), usage{CostUSD: new(1.0)})).Complete(t.Context(), question)
		require.Error(t, err)
	}
	all := s.all(t)
	require.Equal(t, map[string]string{"_OTHER": "5"}, all["clichain.cost_usd"])
	require.Equal(t, map[string]string{"_OTHER _OTHER": "5"}, all["clichain.failures"])
	data := s.metrics(t)["gen_ai.client.operation.duration"].(metricdata.Histogram[float64])
	require.Len(t, data.DataPoints, 2, "of the chain and of the backends")
}
