package queue

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/jetstream"
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

func TestReadyzBeforeJobs(t *testing.T) {
	w, drain := testWatch(t, true)
	get := func() string {
		recorder := httptest.NewRecorder()
		w.handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		require.Equal(t, strings.HasPrefix(recorder.Body.String(), "ok"), recorder.Code == http.StatusOK)
		return recorder.Body.String()
	}
	require.Equal(t, "starting\n", get())
	w.works(clichain.ChainOf([]clichain.Backend{clichain.BackendFunc("b", nil)}, nil))
	require.Equal(t, "ok\n", get())
	w.pause(&jetstream.Pause{})
	require.Equal(t, "ok: the queue is paused until resume\n", get())
	w.pause(&jetstream.Pause{Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	require.Equal(t, "ok: the queue is paused until 2026-01-02T03:04:05Z\n", get())
	w.pause(nil)
	require.Equal(t, "ok\n", get())
	drain()
	require.Equal(t, "draining\n", get())
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
