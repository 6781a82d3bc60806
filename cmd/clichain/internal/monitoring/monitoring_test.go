package monitoring

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/stretchr/testify/require"
)

func TestParseAddress(t *testing.T) {
	for _, text := range []string{"127.0.0.1:9464", "[::1]:0", "localhost:80", "0.0.0.0:9464", "10.0.0.1:9464"} {
		got, err := ParseAddress(text)
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	for _, text := range []string{"", ":9464", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "h:65536", "h:-1", "http://127.0.0.1:9464"} {
		_, err := ParseAddress(text)
		require.ErrorContains(t, err, "127.0.0.1:9464", text)
	}
}

// TestLocalOnly checks that a web page cannot send requests under its own host name.
func TestLocalOnly(t *testing.T) {
	handler := localOnly(Handler(Probes{Healthy: func() string { return "" }}, http.NotFoundHandler()))
	for host, status := range map[string]int{
		"127.0.0.1:8080": 200, "localhost": 200, "[::1]:80": 200, "localhost:1": 200,
		"evil.example:8080": 403, "": 403, "localhost.evil.example": 403, "10.0.0.1": 403,
	} {
		request := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		request.Host = host
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		require.Equal(t, status, recorder.Code, host)
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/metrics"} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "http://localhost"+path, nil))
		require.Equal(t, http.StatusMethodNotAllowed, recorder.Code, path)
	}
}

// listening starts a listener and returns its address and its log.
func listening(t *testing.T, l Listener) (address string, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	stop, err := l.Listen(t.Context(), slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	_, address, _ = strings.Cut(log.String()[strings.LastIndex(log.String(), "msg="):], "address=")
	return strings.TrimSpace(address), log
}

// hello answers every request.
var hello = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "hello") })

func getAs(t *testing.T, address, host string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	require.NoError(t, err)
	request.Host = host
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	return response.StatusCode, string(body)
}

// TestListenOnAllAddresses checks that such a listener answers scrapers with the name of the machine, that the log
// warns of it, and that a Local listener does not start.
func TestListenOnAllAddresses(t *testing.T) {
	address, log := listening(t, Listener{Flag: "--metrics-address", Message: "served", Address: "0.0.0.0:0", Handler: hello})
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	status, body := getAs(t, "127.0.0.1:"+port, "worker-1.example")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "hello", body)
	require.Contains(t, log.String(), "without a token")
	_, err = Listener{Flag: "--health", Address: "0.0.0.0:0", Local: true, Handler: hello}.Listen(t.Context(), slog.Default())
	require.ErrorContains(t, err, "--health: 0.0.0.0:0 is not an address of this machine alone")
}

func TestListenOnLoopback(t *testing.T) {
	address, log := listening(t, Listener{Message: "served", Address: "127.0.0.1:0", Handler: hello})
	status, _ := getAs(t, address, "evil.example")
	require.Equal(t, http.StatusForbidden, status)
	status, _ = getAs(t, address, address)
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, log.String(), "without a token")
}

// TestUnreadyNamesReasonsOnly checks that the output of a CLI, which an error may quote, is not in the text.
func TestUnreadyNamesReasonsOnly(t *testing.T) {
	limited := clichain.BackendFunc("a", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Backend: "a", Reason: clichain.ReasonUsageLimit, Message: "secret", Stderr: "secret"}
	})
	chain := clichain.ChainOf([]clichain.Backend{limited}, nil)
	require.Empty(t, Unready(t.Context(), chain))
	_, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
	require.Error(t, err)
	require.Equal(t, "no backend: a: cooling_down", Unready(t.Context(), chain))
	require.NotEmpty(t, Unready(t.Context(), clichain.ChainOf(nil, nil)))
}
