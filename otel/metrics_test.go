package otel_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	api "go.opentelemetry.io/otel/metric"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/otel"
)

func TestMetricsOfCall(t *testing.T) {
	s := watch(t)
	used := usage{InputTokens: 11, OutputTokens: 7, CostUSD: new(0.25)}
	wrapped := s.chain(config{Name: "in"}, answering("b", response{Model: "m", Usage: used}))
	c := s.chain(config{}, failing("a", clichain.ReasonUsageLimit, usage{InputTokens: 100, CostUSD: new(0.5)}), wrapped)
	for range 2 { // a cools down in the second call
		_, err := c.Complete(t.Context(), question)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]map[string]string{
		"gen_ai.client.operation.duration": {
			"invoke_workflow m chain": "2", "usage_limit a invoke_agent": "1", "in invoke_agent": "2", "b invoke_agent m": "2",
		},
		"gen_ai.client.operation.time_to_first_chunk": {"invoke_workflow chain": "2", "b invoke_agent": "2"},
		"gen_ai.client.token.usage": {
			"a invoke_agent input": "100 of 1", "b invoke_agent m input": "22 of 2", "b invoke_agent m output": "14 of 2",
		},
		"clichain.failures":  {"usage_limit a": "1"},
		"clichain.skips":     {"cooling_down a": "1"},
		"clichain.fallbacks": {"in": "2"},
		"clichain.cooldowns": {"usage_limit a": "1"},
		"clichain.cost_usd":  {"a": "0.5", "b": "0.5"},
	}, s.all(t))
}

func TestDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		slow := clichain.BackendFunc("slow", func(context.Context, clichain.Request) (*clichain.Response, error) {
			time.Sleep(3 * time.Second)
			return &response{Text: answer}, nil
		})
		_, err := s.chain(config{}, slow).Complete(t.Context(), question)
		require.NoError(t, err)
		for _, name := range []string{"gen_ai.client.operation.duration", "gen_ai.client.operation.time_to_first_chunk"} {
			data := s.metrics(t)[name].(metricdata.Histogram[float64])
			require.Len(t, data.DataPoints, 2)
			for _, p := range data.DataPoints {
				require.InDelta(t, 3, p.Sum, 1e-6)
				require.InDeltaSlice(t, []float64{
					0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
				}, p.Bounds, 1e-9)
			}
		}
	})
}

func TestTokenBounds(t *testing.T) {
	s := watch(t)
	_, err := s.Backend(answering("b", response{Usage: usage{OutputTokens: 5}})).Complete(t.Context(), question)
	require.NoError(t, err)
	data := s.metrics(t)["gen_ai.client.token.usage"].(metricdata.Histogram[int64])
	require.Len(t, data.DataPoints, 1)
	require.Equal(t, []float64{
		1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
	}, data.DataPoints[0].Bounds)
}

// An invalid cost must not break a counter.
func TestInvalidCost(t *testing.T) {
	for _, usd := range []float64{-1, math.NaN(), math.Inf(1)} {
		s := watch(t)
		_, err := s.Backend(failing("a", clichain.ReasonExit, usage{CostUSD: new(usd)})).Complete(t.Context(), question)
		require.Error(t, err)
		require.NotContains(t, s.metrics(t), "clichain.cost_usd")
		require.NotContains(t, s.attributes(t, "invoke_agent a"), "clichain.cost_usd")
	}
}

// Cooldowns are also counted for calls without the wrapper.
func TestCooldownsWithoutWrapper(t *testing.T) {
	s := watch(t)
	_, err := s.plainChain(config{}, failing("a", clichain.ReasonUsageLimit, usage{})).Complete(t.Context(), question)
	require.Error(t, err)
	require.Empty(t, s.tree(t))
	all := s.metrics(t)
	require.Len(t, all, 1)
	require.Equal(t, map[string]string{"usage_limit a": "1"}, points(t, all["clichain.cooldowns"]))
}

func TestQueueGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		depth := otel.QueueDepth{Ready: 4, Running: 2, Parked: 1}
		registration, err := s.RegisterQueue("jobs", func(context.Context) (otel.QueueDepth, error) { return depth, nil })
		require.NoError(t, err)
		_, err = s.RegisterQueue("broken", func(context.Context) (otel.QueueDepth, error) {
			return otel.QueueDepth{Failed: 9}, errors.New("broken")
		})
		require.NoError(t, err)
		require.Equal(t, map[string]map[string]string{
			"clichain.queue.jobs":           {"ready jobs": "4", "running jobs": "2", "parked jobs": "1", "failed jobs": "0"},
			"clichain.queue.up":             {"jobs": "1", "broken": "0"},
			"clichain.queue.oldest_job.age": {"jobs": "0"},
		}, s.all(t))
		depth.Failed, depth.Oldest = 3, time.Now().Add(-time.Minute)
		require.Equal(t, "3", s.all(t)["clichain.queue.jobs"]["failed jobs"])
		require.Equal(t, "60", s.all(t)["clichain.queue.oldest_job.age"]["jobs"])
		depth.Oldest = time.Now().Add(time.Hour) // the clock of another machine
		require.Equal(t, "0", s.all(t)["clichain.queue.oldest_job.age"]["jobs"])
		require.NoError(t, registration.Unregister())
		require.Equal(t, map[string]map[string]string{"clichain.queue.up": {"broken": "0"}}, s.all(t))
		_, err = s.RegisterQueue("none", nil)
		require.ErrorContains(t, err, `queue "none": read is nil`)
	})
}

// refusing is a provider of meters that refuse a counter.
type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...api.MeterOption) api.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

var errRefused = errors.New("refused")

func (refusingMeter) Float64Counter(string, ...api.Float64CounterOption) (api.Float64Counter, error) {
	return nil, errRefused
}

func TestMeterThatRefuses(t *testing.T) {
	_, err := otel.New(&otel.Config{MeterProvider: refusing{}})
	require.ErrorIs(t, err, errRefused)
}
