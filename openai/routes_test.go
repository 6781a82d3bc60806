package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai"
)

// TestURLsThatAreNotOffered checks that a client of another API gets the reason in the form that it can read, although
// its token is in another header.
func TestURLsThatAreNotOffered(t *testing.T) {
	s := serving(t, says("x"))
	for _, test := range []struct{ path, want string }{
		{"/v1/messages", `{"error":{"message":"/v1/messages: Anthropic's API is not offered: use a client of OpenAI's API with /v1/chat/completions or /v1/responses","type":"not_found_error"},"type":"error"}`},
		{"/v1/messages/count_tokens", `"type":"not_found_error"},"type":"error"}`},
		{"/v1/completions", `"message":"/v1/completions: CLIs answer messages and do not continue texts: use /v1/chat/completions","type":"invalid_request_error","param":null,"code":"unknown_url"`},
		{"/v1/embeddings", `CLIs compute no embeddings`},
		{"/v1/images/generations", `CLIs generate no images`},
		{"/v1/audio/speech", `CLIs neither speak nor listen`},
		{"/v1/files", `files are not kept`},
		{"/v1/batches", `clichain batch`},
		{"/v1/responses/resp_1", `send the conversation as input`},
	} {
		for _, header := range []string{"Authorization", "X-Api-Key"} {
			r := request(t, s, http.MethodPost, test.path, `{"model":"x"}`)
			r.Header.Del("Authorization")
			r.Header.Set(header, "Bearer wrong")
			a := do(t, s, r)
			require.Equal(t, 404, a.status, test.path)
			require.Contains(t, a.body, test.want)
			require.Equal(t, "application/json", a.header.Get("Content-Type"))
			require.NotEmpty(t, a.header.Get("X-Request-Id"))
		}
	}
	a := post(t, s, "/chat/completions", hi)
	require.Equal(t, 404, a.status)
	require.Contains(t, a.failure(t).Message, "the base URL ends with /v1")
	r := request(t, s, http.MethodPost, "/v1/nonsense", hi)
	r.Header.Del("Authorization")
	require.Equal(t, 401, do(t, s, r).status)
}

// TestHealth checks that a check of the health needs no token, and that a web page cannot ask for it.
func TestHealth(t *testing.T) {
	s := serving(t, says("x"))
	r := request(t, s, http.MethodGet, "/healthz", "")
	r.Header.Del("Authorization")
	a := do(t, s, r)
	require.Equal(t, 200, a.status)
	require.JSONEq(t, `{"status":"ok"}`, a.body)
	r = request(t, s, http.MethodGet, "/healthz", "")
	r.Header.Set("Origin", "https://evil.example")
	require.Equal(t, 403, do(t, s, r).status)
	r = request(t, s, http.MethodGet, "/healthz", "")
	r.Host = "evil.example"
	require.Equal(t, 403, do(t, s, r).status)
}

// TestManyClients checks that 200 clients at once get an answer, or the error of a busy server.
func TestManyClients(t *testing.T) {
	const clients, jobs, waiting = 200, 2, 10
	release := make(chan struct{})
	s := serving(t, clichain.BackendFunc("one", func(context.Context, clichain.Request) (*clichain.Response, error) {
		<-release
		return &clichain.Response{Text: "fine"}, nil
	}), func(c *openai.Config) { c.Concurrency, c.MaxWaiting = jobs, waiting })
	answers := make(chan *httptest.ResponseRecorder, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://localhost"+chat, strings.NewReader(hi))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			s.Config.Handler.ServeHTTP(w, r)
			answers <- w
		})
	}
	for range clients - jobs - waiting {
		w := <-answers
		require.Equal(t, 503, w.Code)
		e := answer{w.Code, w.Header(), w.Body.String()}.failure(t)
		require.Equal(t, "server_busy", e.Code)
		require.Equal(t, "server_error", e.Type)
		require.Contains(t, e.Message, "10 requests wait already: ask again later, or raise Config.MaxWaiting")
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		require.Empty(t, w.Header().Get("X-Should-Retry"))
	}
	close(release)
	all.Wait()
	for range jobs + waiting {
		require.Equal(t, 200, (<-answers).Code)
	}
}
