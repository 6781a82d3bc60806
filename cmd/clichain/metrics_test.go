package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

// scrapes gets a URL of a metrics address.
func scrapes(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: consoletest.Patience}
	response, err := client.Get("http://" + address + path)
	require.NoError(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(data)
}

// metrics returns the metrics at an address, which Prometheus must be able to parse.
func metrics(t *testing.T, address string) string {
	t.Helper()
	status, body := scrapes(t, address, "/metrics")
	require.Equal(t, http.StatusOK, status, body)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	_, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	require.NotContains(t, body, "secret")
	require.NotContains(t, body, os.TempDir())
	return body
}

// TestWorkerMetrics checks that the metrics of a worker follow its jobs, and that the worker reports why it is not
// ready, also without its server.
func TestWorkerMetrics(t *testing.T) {
	t.Parallel()
	s := consoletest.NATSServer(t, func(o *server.Options) { o.Username, o.Password = "u", password })
	f := &fleet{newWorld(t), strings.Replace(s.ClientURL(), "//", "//u:"+password+"@", 1)}
	f.fake("codex", "answer", "secret answer")
	w := f.worker("--only", "codex", "--cold", "--metrics-address", "127.0.0.1:0")
	status, body := scrapes(t, w.metrics, "/readyz")
	require.Equal(t, "ok\n", body)
	require.Equal(t, http.StatusOK, status)
	for _, id := range []string{"secret-1", "secret-2"} {
		f.answers("queue", "submit", "--wait", "--id", id, "secret question")
	}
	w.await(`msg="job answered" id=secret-2`)
	f.fake("codex", "limit", "")
	f.answers("queue", "submit", "--id", "secret-3", "secret question")
	w.await(`msg="job parked" id=secret-3`)
	body = metrics(t, w.metrics)
	for _, line := range []string{
		`clichain_job_outcomes_total{clichain_job_outcome="answered",clichain_queue_name="default"} 2`,
		`clichain_job_wait_seconds_count{clichain_queue_name="default"} 3`,
		`clichain_queue_up{clichain_queue_name="default"} 1`,
		`clichain_chain_ready{gen_ai_workflow_name="chain"} 0`,
	} {
		require.Contains(t, body, line+"\n")
	}
	require.Regexp(t, `clichain_job_outcomes_total\{clichain_job_outcome="parked",[^}]*error_type="usage_limit"\} 1`, body)
	require.Regexp(t, `clichain_cooldown_remaining_seconds\{gen_ai_agent_name="codex"\} [1-9]`, body)
	require.Regexp(t, `gen_ai_client_operation_duration_seconds_count\{[^}]*gen_ai_operation_name="invoke_agent"[^}]*\} 2`, body)
	status, body = scrapes(t, w.metrics, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "no backend: codex: cooling_down\n", body)

	s.Shutdown()
	w.await("connection")
	require.Eventually(t, func() bool {
		return strings.Contains(metrics(t, w.metrics), `clichain_queue_up{clichain_queue_name="default"} 0`)
	}, consoletest.Patience, 100*time.Millisecond)
	require.NotContains(t, metrics(t, w.metrics), "clichain_queue_jobs")
	for path, want := range map[string]string{"/healthz": "no NATS server\n", "/readyz": "no NATS server\n", "/livez": "ok\n"} {
		_, body = scrapes(t, w.metrics, path)
		require.Equal(t, want, body, path)
	}
	_, log := w.stop(syscall.SIGKILL) // without its server, it would try to write for a while
	require.NotContains(t, log, "secret question")
}

// TestServeMetrics checks that the metrics of a server need no token and follow its calls, and that the API has none.
func TestServeMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "secret answer")
	errs, stderr := io.Pipe()
	s := w.servingTo(stderr, "--only", "claude", "--cold", "--metrics-address", "127.0.0.1:0")
	address := ""
	for lines := bufio.NewScanner(errs); address == "" && lines.Scan(); {
		if strings.Contains(lines.Text(), "metrics are served") {
			_, address, _ = strings.Cut(lines.Text(), "address=")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	s.answers(served1)
	body := metrics(t, address)
	require.Regexp(t, `gen_ai_client_operation_duration_seconds_count\{[^}]*gen_ai_agent_name="claude"[^}]*\} 1`, body)
	require.Contains(t, body, `clichain_chain_ready{gen_ai_workflow_name="clichain"} 1`+"\n")
	require.NotContains(t, body, s.token)
	for _, path := range []string{"/readyz", "/healthz", "/livez"} {
		_, text := scrapes(t, address, path)
		require.Equal(t, "ok\n", text)
	}
	response, err := http.Get(strings.TrimSuffix(s.baseURL, "/v1") + "/metrics")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NotEqual(t, http.StatusOK, response.StatusCode, "the address of the API has no metrics")
	status, _ := s.stop(syscall.SIGTERM)
	require.Zero(t, status)
}

// TestMetricsAddressIsChecked checks the flag before a service connects or starts a process.
func TestMetricsAddressIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "no")
	for _, args := range [][]string{{"serve"}, {"worker", "--nats", "nats://127.0.0.1:1"}} {
		out, err := w.command(append(args, "--metrics-address", ":9464")...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, strings.ReplaceAll(string(out), "\n", " "), "0.0.0.0:9464")
	}
}
