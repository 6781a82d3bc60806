package otel

import (
	"context"
	"errors"
	"math"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments holds all metrics, and limits their attributes.
type instruments struct {
	*bounds
	duration, firstText, jobWait          metric.Float64Histogram
	tokens                                metric.Int64Histogram
	failures, skips, fallbacks, cooldowns metric.Int64Counter
	jobOutcomes                           metric.Int64Counter
	cost, jobCost                         metric.Float64Counter
	queueJobs, queueUp, chainReady        metric.Int64ObservableGauge
	queueOldest, cooldownLeft             metric.Float64ObservableGauge
	quotaUsed, quotaReset                 metric.Float64ObservableGauge
}

// secondBounds and tokenBounds are the bucket boundaries that the semantic conventions recommend. Those of waitBounds
// end at 29 hours.
var (
	secondBounds = powers(0.01, 2, 14)
	tokenBounds  = powers(1, 4, 14)
	waitBounds   = powers(0.1, 4, 11)
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
		bounds:     &bounds{seen: map[attribute.Key]map[string]struct{}{}},
		duration:   m.seconds(metricDuration, "GenAI operation duration.", secondBounds),
		firstText:  m.seconds(metricFirstText, "Time to receive the first chunk of text.", secondBounds),
		jobWait:    m.seconds(metricJobWait, "Time from the submission of a job to the start of an attempt.", waitBounds),
		failures:   m.counter(metricFailures, "{attempt}", "Attempts that gave no answer."),
		skips:      m.counter(metricSkips, "{backend}", "Backends skipped without an attempt."),
		fallbacks:  m.counter(metricFallbacks, "{attempt}", "Attempts after another backend's failure or skip."),
		cooldowns:  m.counter(metricCooldowns, "{cooldown}", "Backends that began to cool down."),
		quotaUsed:  m.gauge(metricQuotaUsed, "1", "Used share of a usage window."),
		quotaReset: m.gauge(metricQuotaReset, "s", "Time to the reset of a usage window."),

		jobOutcomes:  m.counter(metricJobOutcomes, "{attempt}", "Attempts at jobs by outcome."),
		queueJobs:    m.count(metricQueueJobs, "{job}", "Jobs of a queue by state."),
		queueUp:      m.count(metricQueueUp, "{queue}", "1 if the queue responds, else 0."),
		queueOldest:  m.gauge(metricQueueOldest, "s", "Age of the oldest job that waits for a worker."),
		cooldownLeft: m.gauge(metricCooldownLeft, "s", "Time to the end of the cooldown of a backend."),
		chainReady:   m.count(metricChainReady, "{chain}", "1 if a call would ask a backend, else 0."),
	}
	var err [3]error
	i.tokens, err[0] = meter.Int64Histogram(metricTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens used."),
		metric.WithExplicitBucketBoundaries(tokenBounds...))
	i.cost, err[1] = meter.Float64Counter(metricCost, metric.WithUnit("{USD}"),
		metric.WithDescription("Known cost of attempts."))
	i.jobCost, err[2] = meter.Float64Counter(metricJobCost, metric.WithUnit("{USD}"),
		metric.WithDescription("Known cost of jobs with a result."))
	return i, errors.Join(append(m.errs, err[:]...)...)
}

// maker creates the instruments of several kinds and collects the errors.
type maker struct {
	meter metric.Meter
	errs  []error
}

func (m *maker) seconds(name, description string, bounds []float64) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(bounds...))
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

func (m *maker) count(name, unit, description string) metric.Int64ObservableGauge {
	g, err := m.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = append(m.errs, err)
	return g
}

// countUsage records the known usage of a run, whether it failed or not.
func (i *instruments) countUsage(ctx context.Context, r *run) {
	for kind, n := range map[string]int64{tokensIn: r.usage.InputTokens, tokensOut: r.usage.OutputTokens} {
		if n > 0 {
			i.tokens.Record(ctx, n, i.set(append(r.about(), keyTokenType.String(kind))...))
		}
	}
	if usd, ok := costOf(r.usage); ok {
		i.cost.Add(ctx, usd, i.set(keyAgent.String(r.backend)))
	}
}

func (i *instruments) countCooldown(ctx context.Context, backend string, reason clichain.Reason) {
	i.cooldowns.Add(ctx, 1, i.set(agentAttributes(backend, known(reason))...))
}
