package queue

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/stretchr/testify/require"
)

func testWatch(t *testing.T, connected bool) (*monitor, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return newMonitor(ctx, "", 2, slog.New(slog.DiscardHandler), func() bool { return connected }), cancel
}

func TestHealthz(t *testing.T) {
	for name, test := range map[string]struct {
		connected, draining bool
		status              int
		body                string
	}{
		"connected":    {true, false, http.StatusOK, "ok\n"},
		"draining":     {true, true, http.StatusServiceUnavailable, "draining\n"},
		"disconnected": {false, false, http.StatusServiceUnavailable, "no NATS server\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w, drain := testWatch(t, test.connected)
			if test.draining {
				drain()
			}
			recorder := httptest.NewRecorder()
			w.handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/healthz", nil))
			require.Equal(t, test.status, recorder.Code)
			require.Equal(t, test.body, recorder.Body.String())
		})
	}
}

// TestHealthIsLocal checks that a web page cannot send requests under its own host name.
func TestHealthIsLocal(t *testing.T) {
	w, _ := testWatch(t, true)
	for host, status := range map[string]int{
		"127.0.0.1:8080": 200, "localhost": 200, "[::1]:80": 200, "localhost:1": 200,
		"evil.example:8080": 403, "": 403, "localhost.evil.example": 403, "10.0.0.1": 403,
	} {
		request := httptest.NewRequest(http.MethodGet, "/status", nil)
		request.Host = host
		recorder := httptest.NewRecorder()
		localOnly(w.handler()).ServeHTTP(recorder, request)
		require.Equal(t, status, recorder.Code, host)
	}
	request := httptest.NewRequest(http.MethodPost, "http://localhost/status", nil)
	recorder := httptest.NewRecorder()
	localOnly(w.handler()).ServeHTTP(recorder, request)
	require.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
}

// TestHealthStops checks that stop closes the listener, and that a client that sends nothing does not delay it.
func TestHealthStops(t *testing.T) {
	w, _ := testWatch(t, true)
	lines := make(consoletest.LineWriter, 10)
	w.log = slog.New(slog.NewJSONHandler(lines, nil))
	stop, err := w.listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	var line struct{ Address string }
	require.NoError(t, json.Unmarshal([]byte(lines.Await(t, "health is served")), &line))
	silent, err := net.Dial("tcp", line.Address)
	require.NoError(t, err)
	defer silent.Close()
	response, err := http.Get("http://" + line.Address + "/status")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(body), `"slots":2`)
	_, err = w.listen(t.Context(), line.Address)
	require.ErrorContains(t, err, "--health: listen tcp "+line.Address)
	require.NoError(t, stop())
	_, err = net.Dial("tcp", line.Address)
	require.Error(t, err)
}

func TestHealthWithoutAddress(t *testing.T) {
	w, _ := testWatch(t, true)
	stop, err := w.listen(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, stop())
}

// TestWatchOmitsPastCooldown checks that the status omits a cooldown that is over.
func TestWatchOmitsPastCooldown(t *testing.T) {
	w, _ := testWatch(t, true)
	w.rest(time.Now().Add(time.Hour))
	require.False(t, w.status().RestingUntil.IsZero())
	w.rest(time.Now().Add(-time.Second))
	require.Zero(t, w.status().RestingUntil)
	require.NotEmpty(t, w.status().Name)
}
