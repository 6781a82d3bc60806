package openai_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/openai"
)

// TestHandlerRejectsUntrustedRequests checks that only local programs with the token reach the backend.
func TestHandlerRejectsUntrustedRequests(t *testing.T) {
	backend := says("secret")
	s := serving(t, backend, func(c *openai.Config) {
		c.AllowedOrigins, c.MaxBodyBytes = []string{"http://localhost:3000"}, 1000
	})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, test := range []struct {
		name   string
		change func(*http.Request)
		status int
		code   string
	}{
		{"valid request", func(*http.Request) {}, 200, ""},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "invalid_api_key"},
		{"empty token", header("Authorization", "Bearer "), 401, "invalid_api_key"},
		{"wrong token", header("Authorization", "Bearer 0123456789abcdeg"), 401, "invalid_api_key"},
		{"prefix of the token", header("Authorization", "Bearer 0123456789abcde"), 401, "invalid_api_key"},
		{"unsupported scheme", header("Authorization", "Basic "+token), 401, "invalid_api_key"},
		{"lower-case scheme", header("Authorization", "bearer "+token), 200, ""},
		{"foreign host", func(r *http.Request) { r.Host = "evil.example" }, 403, "host_not_allowed"},
		{"foreign host with a local prefix", func(r *http.Request) { r.Host = "localhost.evil.example:8484" }, 403, "host_not_allowed"},
		{"localhost", func(r *http.Request) { r.Host = "localhost:1" }, 200, ""},
		{"IPv6", func(r *http.Request) { r.Host = "[::1]:8484" }, 200, ""},
		{"reversed brackets", func(r *http.Request) { r.Host = "]localhost[" }, 403, "host_not_allowed"},
		{"double brackets", func(r *http.Request) { r.Host = "[[::1]]" }, 403, "host_not_allowed"},
		{"foreign origin", header("Origin", "https://evil.example"), 403, "origin_not_allowed"},
		{"null origin", header("Origin", "null"), 403, "origin_not_allowed"},
		{"empty origin", header("Origin", ""), 403, "origin_not_allowed"},
		{"allowed origin", header("Origin", "http://localhost:3000"), 200, ""},
		{"two origins", func(r *http.Request) {
			r.Header["Origin"] = []string{"http://localhost:3000", "https://evil.example"}
		}, 403, "origin_not_allowed"},
		{"content type of a form", header("Content-Type", "text/plain"), 415, "unsupported_media_type"},
		{"content type with a charset", header("Content-Type", "application/json; charset=utf-8"), 200, ""},
		{"unsupported method", func(r *http.Request) { r.Method = http.MethodGet }, 405, "method_not_allowed"},
		{"unknown URL", func(r *http.Request) { r.URL.Path = "/v1/embeddings" }, 404, "unknown_url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, s, http.MethodPost, chat, hi)
			test.change(r)
			a := do(t, s, r)
			require.Equal(t, test.status, a.status, a.body)
			require.NotEmpty(t, a.header.Get("X-Request-Id"))
			require.Equal(t, "no-store", a.header.Get("Cache-Control"))
			if test.code != "" {
				e := a.failure(t)
				require.Equal(t, test.code, e.Code)
				require.Equal(t, "invalid_request_error", e.Type)
				require.NotContains(t, a.body, token[:8])
				require.Equal(t, "false", a.header.Get("X-Should-Retry"))
			}
		})
	}
}

// TestHandlerChecksHost writes each Host header itself, because Go's client would remove the zone of an address.
func TestHandlerChecksHost(t *testing.T) {
	s := serving(t, says("secret"))
	for host, want := range map[string]int{
		"localhost": 200, "[::1]:8484": 200,
		"[::1%evil.com]": 403, "[::1%evil.com]:8484": 403, "[::1%25evil.com]": 403, "::1%evil.com": 403,
	} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", chat, host, token, len(hi), hi)
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, host)
		require.Equal(t, want, resp.StatusCode, host)
		require.NoError(t, resp.Body.Close())
		require.NoError(t, c.Close())
	}
}

// TestHandlerWithoutToken checks that a server without a token refuses all requests.
func TestHandlerWithoutToken(t *testing.T) {
	s := serving(t, says("secret"), func(c *openai.Config) { c.Token = "" })
	r := request(t, s, http.MethodPost, chat, hi)
	r.Header.Set("Authorization", "Bearer ")
	require.Equal(t, 401, do(t, s, r).status)
}

func TestNewHandlerWithoutConfigRefusesAllRequests(t *testing.T) {
	s := httptest.NewServer(openai.NewHandler(says("secret"), nil))
	t.Cleanup(s.Close)
	for method, path := range map[string]string{http.MethodPost: chat, http.MethodGet: "/v1/models"} {
		a := do(t, s, request(t, s, method, path, hi))
		require.Equal(t, http.StatusUnauthorized, a.status)
		require.Contains(t, a.failure(t).Message, "set Config.Token")
	}
}

func TestNewHandlerPanicsWithoutBackend(t *testing.T) {
	require.PanicsWithValue(t, "openai: NewHandler: backend is nil", func() { openai.NewHandler(nil, &openai.Config{Token: token}) })
}

// TestBodyLimit checks that the limit applies to the declared length and to the received length.
func TestBodyLimit(t *testing.T) {
	s := serving(t, says("x"), func(c *openai.Config) { c.MaxBodyBytes = 1000 })
	large := strings.Replace(hi, "hi", strings.Repeat("x", 1000), 1)
	a := post(t, s, chat, large)
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Equal(t, "request_too_large", a.failure(t).Code)
	r := request(t, s, http.MethodPost, chat, large)
	r.ContentLength = -1 // chunked encoding
	require.Equal(t, http.StatusRequestEntityTooLarge, do(t, s, r).status)
}

// TestPreflight checks that a preflight request of a browser needs no token.
func TestPreflight(t *testing.T) {
	s := serving(t, says("x"), func(c *openai.Config) { c.AllowedOrigins = []string{"http://localhost:3000"} })
	ask := func(origin string) answer {
		r := request(t, s, http.MethodOptions, chat, "")
		r.Header.Del("Authorization")
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		return do(t, s, r)
	}
	a := ask("http://localhost:3000")
	require.Equal(t, http.StatusNoContent, a.status)
	require.Equal(t, "http://localhost:3000", a.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "authorization,content-type", a.header.Get("Access-Control-Allow-Headers"))
	a = ask("https://evil.example")
	require.Equal(t, http.StatusForbidden, a.status)
	require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
}

func TestModels(t *testing.T) {
	s := serving(t, says("x"))
	a := do(t, s, request(t, s, http.MethodGet, "/v1/models", ""))
	require.Equal(t, 200, a.status)
	for _, name := range []string{"clichain", "zero", "one"} {
		require.Contains(t, a.body, `{"id":"`+name+`","object":"model","created":`)
	}
	for path, status := range map[string]int{
		"clichain": 200, "one": 200, "one/large": 200, "one%2Flarge": 200, "one/a/b": 200,
		"two": 404, "one/": 404, "two/large": 404, "clichain/x": 404,
	} {
		a := do(t, s, request(t, s, http.MethodGet, "/v1/models/"+path, ""))
		require.Equal(t, status, a.status, path)
		if status == 404 {
			require.Equal(t, "model_not_found", a.failure(t).Code)
		}
	}
}
