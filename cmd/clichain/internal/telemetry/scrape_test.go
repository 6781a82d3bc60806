package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/otel"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

func scraper(t *testing.T) *Exporter {
	t.Helper()
	e, err := New(t.Context(), Config{Scrape: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// scrape returns the metrics as text, and parsed.
func scrape(t *testing.T, e *Exporter) (text string, families map[string]*dto.MetricFamily) {
	t.Helper()
	recorder := httptest.NewRecorder()
	e.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	text = recorder.Body.String()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return text, families
}

type usage = clichain.Usage

func answering(name string, u usage) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "secret answer", Model: "m", Usage: u}, nil
	})
}

func failing(name string, u usage) clichain.Backend {
	return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Backend: name, Reason: clichain.ReasonUsageLimit, Usage: u, Stderr: "secret"}
	})
}

// busy records a value of every metric.
func busy(t *testing.T, e *Exporter) {
	t.Helper()
	used := usage{InputTokens: 3, OutputTokens: 4, CostUSD: new(0.25)}
	chain := clichain.ChainOf(
		[]clichain.Backend{failing("a", usage{}), answering("b", used)}, &clichain.ChainConfig{Hooks: e.Hooks()})
	for range 2 {
		_, err := e.Wrap(chain).Complete(t.Context(), clichain.Prompt("secret question"))
		require.NoError(t, err)
	}
	require.NoError(t, e.MeasureChain(chain))
	_, span := e.StartJob(t.Context(), otel.Job{ID: "secret id", Queue: "q", Submitted: time.Now()})
	span.End(otel.JobFailed, "exit")
	cfg := &jetstream.WorkConfig{}
	e.ObserveJobs(cfg, "q")
	for _, owner := range []string{"alice", "alice", ""} {
		cfg.OnResult(&jetstream.Result{ID: "secret id", Owner: owner, Response: &clichain.Response{Usage: used}})
	}
	_, err := e.RegisterQueue("q", func(context.Context) (otel.QueueDepth, error) { return otel.QueueDepth{Ready: 7}, nil })
	require.NoError(t, err)
	store := cooldown.NewMemory()
	require.NoError(t, store.UpdateQuota(t.Context(), "secret key", func(cooldown.Quota) cooldown.Quota {
		return cooldown.Quota{Account: "team", Backends: []string{"a"}, Windows: []call.QuotaWindow{
			{Name: "five_hour", Used: new(0.5), ResetsAt: time.Now().Add(time.Hour), ObservedAt: time.Now()},
		}}
	}))
	require.NoError(t, e.MeasureQuotas(store))
}

const page = "../../../../docs/reference/telemetry.md"

// row matches a metric in the table of the page: its name in OpenTelemetry and in Prometheus, and its kind.
var row = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|")

// TestScrapeMatchesPage checks that the page lists exactly the metrics of a scrape, with their kinds, and that their
// names and help follow the conventions of Prometheus.
func TestScrapeMatchesPage(t *testing.T) {
	e := scraper(t)
	busy(t, e)
	text, families := scrape(t, e)
	got := map[string]string{}
	for name, f := range families {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			got[name] = strings.ToLower(f.GetType().String())
		}
	}
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	want := map[string]string{"clichain_build_info": "gauge"}
	require.Contains(t, string(data), "`clichain_build_info`")
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		want[m[2]] = m[3]
		require.True(t, strings.HasPrefix(m[2], strings.ReplaceAll(m[1], ".", "_")), "%s: %s", m[1], m[2])
	}
	require.Equal(t, want, got)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NotContains(t, text, "secret")
	require.NotContains(t, text, "otel_scope")
}

func TestScrapeHasValues(t *testing.T) {
	e := scraper(t)
	busy(t, e)
	text, _ := scrape(t, e)
	for _, line := range []string{
		`clichain_failures_total{error_type="usage_limit",gen_ai_agent_name="a"} 1`,
		`clichain_skips_total{error_type="cooling_down",gen_ai_agent_name="a"} 1`,
		`clichain_cost_usd_total{gen_ai_agent_name="b"} 0.5`,
		`clichain_cooldown_remaining_seconds{gen_ai_agent_name="b"} 0`,
		`clichain_chain_ready{gen_ai_workflow_name="chain"} 1`,
		`clichain_job_outcomes_total{clichain_job_outcome="failed",clichain_queue_name="q",error_type="exit"} 1`,
		`clichain_queue_jobs{clichain_queue_job_state="ready",clichain_queue_name="q"} 7`,
		`clichain_job_cost_usd_total{clichain_job_owner="alice",clichain_queue_name="q"} 0.5`,
		`clichain_job_cost_usd_total{clichain_queue_name="q"} 0.25`,
		`clichain_queue_up{clichain_queue_name="q"} 1`,
		`clichain_quota_used_ratio{clichain_account="team",clichain_quota_window="five_hour",gen_ai_agent_name="a"} 0.5`,
		`clichain_job_wait_seconds_count{clichain_queue_name="q"} 1`,
	} {
		require.Contains(t, text, line+"\n")
	}
	require.Regexp(t, `clichain_cooldown_remaining_seconds\{gen_ai_agent_name="a"\} [1-9]`, text)
	require.Regexp(t, `clichain_build_info\{commit="[^"]*",go="go1[^"]*",version="[^"]+"\} 1`, text)
}

// TestScrapeBoundsNames checks that names from outside add no lines and a limited number of series, and that one
// series adds up the rest.
func TestScrapeBoundsNames(t *testing.T) {
	e := scraper(t)
	const calls = 1000
	for i := range calls {
		name := fmt.Sprintf("x%d\"} 1\nclichain_failures_total{gen_ai_agent_name=\"forged", i)
		if i%2 == 0 {
			name = fmt.Sprintf("%d\"} 1 # \\", i)
		}
		chain := clichain.ChainOf([]clichain.Backend{failing(name, usage{})}, &clichain.ChainConfig{Hooks: e.Hooks()})
		req := clichain.Prompt("hi")
		req.Model = name
		_, err := e.Wrap(chain).Complete(t.Context(), req)
		require.Error(t, err)
	}
	text, families := scrape(t, e)
	require.NotContains(t, text, "forged")
	total := 0.0
	series := families["clichain_failures_total"].GetMetric()
	for _, m := range series {
		total += m.GetCounter().GetValue()
	}
	require.InDelta(t, calls, total, 0)
	require.Len(t, series, 101)
	for name, f := range families {
		require.LessOrEqual(t, len(f.GetMetric()), maxSeries, name)
	}
	require.Less(t, len(text), 4<<20)
}

// TestRecentReadsOnce checks that frequent scrapes read a queue once, and that a queue that does not respond delays a
// scrape for a limited time.
func TestRecentReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, away := 0, false
		r := newRecent(func(ctx context.Context) (int, error) {
			reads++
			if away {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			return reads, nil
		})
		for range 3 {
			v, err := r.get(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, v)
		}
		time.Sleep(depthAge)
		away = true
		start := time.Now()
		results := make(chan error)
		for range 3 {
			go func() { _, err := r.get(t.Context()); results <- err }()
		}
		for range 3 {
			require.ErrorIs(t, <-results, context.DeadlineExceeded)
		}
		require.Equal(t, depthLimit, time.Since(start))
		require.Equal(t, 2, reads)
		time.Sleep(depthAge)
		away = false
		v, err := r.get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, v)
	})
}

// TestScrapeOfHangingQueue checks that a gauge that does not return fails all scrapes, also those above maxScrapes, and
// that later scrapes succeed.
func TestScrapeOfHangingQueue(t *testing.T) {
	e := scraper(t)
	release := make(chan struct{})
	_, err := e.RegisterQueue("q", func(context.Context) (otel.QueueDepth, error) {
		<-release
		return otel.QueueDepth{}, errors.New("away")
	})
	require.NoError(t, err)
	handler := e.handlerWithin(time.Millisecond, slog.New(slog.DiscardHandler))
	for range maxScrapes + 2 {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusServiceUnavailable, recorder.Code)
	}
	close(release)
	text, _ := scrape(t, e)
	require.Contains(t, text, `clichain_queue_up{clichain_queue_name="q"} 0`)
	require.NotContains(t, text, "clichain_queue_jobs")
}

func TestNewWithoutReceiver(t *testing.T) {
	e, err := New(t.Context(), Config{})
	require.NoError(t, err)
	require.Nil(t, e)
	require.NoError(t, e.MeasureChain(nil))
	require.NoError(t, e.Close())
}

// TestScrapeKeepsTrace checks that a CLI gets the trace of the caller and no other one without a collector of spans.
func TestScrapeKeepsTrace(t *testing.T) {
	e := scraper(t)
	traces := map[string]bool{}
	b := e.Wrap(clichain.BackendFunc("b", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
		parent, _ := call.TraceOf(ctx)
		traces[parent] = true
		return &clichain.Response{Text: "x"}, nil
	}))
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, ctx := range []context.Context{t.Context(), call.WithTrace(t.Context(), parent, "")} {
		_, err := b.Complete(e.Continue(ctx), clichain.Prompt("hi"))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"", parent}, slices.Sorted(maps.Keys(traces)))
}
