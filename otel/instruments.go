package otel

import (
	"context"
	"errors"
	"math"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/metric"
)

// instruments holds all metrics.
type instruments struct {
	duration, firstText                   metric.Float64Histogram
	tokens                                metric.Int64Histogram
	failures, skips, fallbacks, cooldowns metric.Int64Counter
	cost                                  metric.Float64Counter
	queueJobs                             metric.Int64ObservableGauge
	quotaUsed, quotaReset                 metric.Float64ObservableGauge
}

// secondBounds and tokenBounds are the bucket boundaries that the semantic conventions recommend.
var (
	secondBounds = powers(0.01, 2, 14)
	tokenBounds  = powers(1, 4, 14)
)

// powers returns first, first*factor, first*factor² and so on.
func powers(first, factor float64, n int) []float64 {
	bounds := make([]float64, n)
	for i := range bounds {
		bounds[i] = first * math.Pow(factor, float64(i))
	}
	return bounds
}

func newInstruments(meter metric.Meter) (instruments, error) {
	m := maker{meter: meter}
	i := instruments{
		duration:   m.seconds(metricDuration, "GenAI operation duration."),
		firstText:  m.seconds(metricFirstText, "Time to receive the first chunk of text."),
		failures:   m.counter(metricFailures, "{attempt}", "Attempts that gave no answer."),
		skips:      m.counter(metricSkips, "{backend}", "Backends skipped without an attempt."),
		fallbacks:  m.counter(metricFallbacks, "{attempt}", "Attempts after another backend's failure or skip."),
		cooldowns:  m.counter(metricCooldowns, "{cooldown}", "Backends that began to cool down."),
		quotaUsed:  m.gauge(metricQuotaUsed, "1", "Used share of a usage window."),
		quotaReset: m.gauge(metricQuotaReset, "s", "Time to the reset of a usage window."),
	}
	var err [3]error
	i.tokens, err[0] = meter.Int64Histogram(metricTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens used."),
		metric.WithExplicitBucketBoundaries(tokenBounds...))
	i.cost, err[1] = meter.Float64Counter(metricCost, metric.WithUnit("{USD}"),
		metric.WithDescription("Known cost of attempts."))
	i.queueJobs, err[2] = meter.Int64ObservableGauge(metricQueueJobs, metric.WithUnit("{job}"),
		metric.WithDescription("Jobs of a queue by state."))
	return i, errors.Join(append(m.errs, err[:]...)...)
}

// maker creates the instruments of several kinds and collects the errors.
type maker struct {
	meter metric.Meter
	errs  []error
}

func (m *maker) seconds(name, description string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(secondBounds...))
	m.errs = append(m.errs, err)
	return h
}

func (m *maker) counter(name, unit, description string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = append(m.errs, err)
	return c
}

func (m *maker) gauge(name, unit, description string) metric.Float64ObservableGauge {
	g, err := m.meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = append(m.errs, err)
	return g
}

// countUsage records the known usage of a run, whether it failed or not.
func (i *instruments) countUsage(ctx context.Context, r *run) {
	for kind, n := range map[string]int64{tokensIn: r.usage.InputTokens, tokensOut: r.usage.OutputTokens} {
		if n > 0 {
			i.tokens.Record(ctx, n, setOf(append(r.about(), keyTokenType.String(kind))))
		}
	}
	if usd, ok := costOf(r.usage); ok {
		i.cost.Add(ctx, usd, agentSet(r.backend, ""))
	}
}

func (i *instruments) countCooldown(ctx context.Context, backend string, reason clichain.Reason) {
	i.cooldowns.Add(ctx, 1, agentSet(backend, known(reason)))
}
