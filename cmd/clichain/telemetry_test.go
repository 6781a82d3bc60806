package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cooldown"
	"github.com/stretchr/testify/require"
)

// collector records the requests to an OpenTelemetry collector, by path.
type collector struct {
	mu   sync.Mutex
	sent map[string][]byte
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	data, _ := io.ReadAll(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[r.URL.Path] = append(c.sent[r.URL.Path], data...)
}

// collecting starts a collector and returns its URL.
func collecting(t *testing.T) (c *collector, url string) {
	c = &collector{sent: map[string][]byte{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server.URL
}

func (c *collector) got(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[path]
}

// A worker must export its jobs in the traces of their submitters, without prompts and answers. A collector that is
// not reachable must not fail a job.
func TestFleetTelemetry(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "answer", "secret answer")
	c, url := collecting(t)
	w := f.worker("--only", "claude", "--cold", "--otlp", url)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	submit := f.command("queue", "submit", "--wait", "--id", "nightly-7", "secret question")
	submit.Env = append(submit.Env, "NATS_URL="+f.url, "TRACEPARENT=00-"+trace+"-b7ad6b7169203331-01")
	out, err := submit.CombinedOutput()
	require.NoError(t, err, "%s", out)
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)

	spans, points := c.got("/v1/traces"), c.got("/v1/metrics")
	id, err := hex.DecodeString(trace)
	require.NoError(t, err)
	require.True(t, bytes.Contains(spans, id), "the trace goes on")
	for _, name := range []string{
		"invoke_workflow", "invoke_agent claude", "claude-opus-4-8", "job default", "clichain.job.id", "nightly-7",
		"gen_ai.provider.name", "anthropic", "service.name", "service.version",
	} {
		require.Contains(t, string(spans), name)
	}
	for _, name := range []string{"gen_ai.client.token.usage", "gen_ai.client.operation.duration", "clichain.queue"} {
		require.Contains(t, string(points), name)
	}
	require.NotContains(t, string(spans)+string(points), "secret")
	require.NotContains(t, string(spans)+string(points), password)

	b := f.command("batch", "--otlp", url, "--cold", "--only", "claude")
	f.fake("claude", "crash", "secret failure")
	b.Stdin = strings.NewReader(`{"id":"line-1","prompt":"secret question"}`)
	before := len(spans)
	out, err = b.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, console.ExitFailed, b.ProcessState.ExitCode(), "%s", out)
	for _, name := range []string{"invoke_agent claude", "batch.line-1", "clichain.batch.id", "job batch"} {
		require.Contains(t, string(c.got("/v1/traces")[before:]), name)
	}
	f.fake("claude", "answer", "secret answer")
	require.NotContains(t, string(c.got("/v1/traces")), "secret")

	w = f.worker("--only", "claude", "--cold", "--otlp", "http://127.0.0.1:1")
	require.Equal(t, "secret answer\n", f.answers("queue", "submit", "--wait", "secret question"))
	code, log = w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	_, stderr, status := f.run("worker", "--otlp", "localhost:4318")
	require.Equal(t, console.ExitUsage, status)
	require.Contains(t, strings.ReplaceAll(stderr, "\n", " "), "http://127.0.0.1:4318")
}

// A server must export its answers in the traces of its clients.
func TestServeTelemetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "secret answer")
	c, url := collecting(t)
	s := w.serving("--only", "claude", "--cold", "--otlp", url)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	resp, err := s.ask(served1, "traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)

	id, err := hex.DecodeString(trace)
	require.NoError(t, err)
	spans := c.got("/v1/traces")
	require.True(t, bytes.Contains(spans, id), "the trace goes on")
	require.Contains(t, string(spans), "invoke_agent claude")
	require.NotContains(t, string(spans), "secret")
}

// windows reports whether the collector got the gauges of a window with the name and the used share.
func (c *collector) windows(name string, used float64) bool {
	points := c.got("/v1/metrics")
	for _, want := range []string{"clichain.quota.used", "clichain.quota.reset", name} {
		if !bytes.Contains(points, []byte(want)) {
			return false
		}
	}
	return bytes.Contains(points, binary.LittleEndian.AppendUint64(nil, math.Float64bits(used)))
}

// The windows that a CLI reports with an answer must reach the collector at the end of the command, also without calls
// of the same run.
func TestBatchExportsUsageWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "windows", "0.6283")
	_, variable := usageOf(t)
	w.env = []string{variable}
	for range 2 {
		c, url := collecting(t)
		cmd := w.command("batch", "--otlp", url, "--cold", "--only", "claude")
		cmd.Stdin = strings.NewReader(`{"id":"1","prompt":"hi"}`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.True(t, c.windows("five_hour", 0.6283))
		require.False(t, c.windows("five_hour", 0.5))
		w.fake("claude", "answer", "fine")
	}
}

func TestServeExportsUsageWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "windows", "0.6283")
	_, variable := usageOf(t)
	w.env = []string{variable}
	c, url := collecting(t)
	s := w.serving("--only", "claude", "--cold", "--otlp", url)
	s.answers(served1)
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
	require.True(t, c.windows("five_hour", 0.6283))
}

func TestWorkerExportsUsageWindows(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fake("claude", "windows", "0.6283")
	c, url := collecting(t)
	w := f.worker("--only", "claude", "--cold", "--otlp", url, "--account", "claude=team")
	require.Equal(t, "fine\n", f.answers("queue", "submit", "--wait", "hi"))
	code, log := w.stop(syscall.SIGTERM)
	require.Zero(t, code, log)
	require.True(t, c.windows("five_hour", 0.6283))
	require.Contains(t, string(c.got("/v1/metrics")), "team")
	require.Contains(t, f.answers("usage", "--nats", f.url), "claude (account team)\n  5 hours  five_hour")
}

// usageOf returns the file of the cooldowns of a world, and the environment variable that names it.
func usageOf(t *testing.T) (store *cooldown.File, variable string) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	return cooldown.NewFile(path, func(err error) { t.Error(err) }), "CLICHAIN_COOLDOWNS=" + path
}
