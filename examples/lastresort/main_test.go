package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

const key = "key-of-a-test"

// service starts a local endpoint for the program.
func service(t *testing.T, handler http.HandlerFunc) *api {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &api{server.URL + "/v1/", key, "small"}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// ask runs the program on a machine with one CLI, and with this endpoint.
func ask(t *testing.T, cli clitest.Scenario, a *api, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Cleanup(machine.New(map[string]clitest.Scenario{"claude": cli}))
	if a != nil {
		t.Setenv("OPENAI_BASE_URL", a.base)
		t.Setenv("OPENAI_API_KEY", a.key)
		t.Setenv("OPENAI_MODEL", a.model)
	}
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

const fortyTwo = `{"model": "small-1", "choices": [{"message": {"content": "42"}}], "usage": {"prompt_tokens": 5}}`

func TestAPIAnswersLast(t *testing.T) {
	var sent completion
	a := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, fortyTwo)
	})
	status, stdout, stderr := ask(t, clitest.LoggedOut(specs.Claude()), a, "What is", "6*7?")
	require.Zero(t, status, stderr)
	require.Equal(t, "42\n", stdout)
	require.Contains(t, stderr, "failed: claude: unauthenticated")
	require.Contains(t, stderr, "answered by api")
	require.Equal(t, completion{Model: "small", Messages: clichain.Prompt("What is 6*7?").Messages}, sent)
}

func TestCLIAnswersFirst(t *testing.T) {
	a := service(t, func(http.ResponseWriter, *http.Request) { t.Error("the endpoint received a request") })
	status, stdout, stderr := ask(t, clitest.Answer(specs.Claude(), "42"), a, "6*7?")
	require.Zero(t, status, stderr)
	require.Equal(t, "42\n", stdout)
}

func TestNoBackendAnswers(t *testing.T) {
	status, stdout, stderr := ask(t, clitest.LoggedOut(specs.Claude()), nil, "6*7?")
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "set OPENAI_BASE_URL and OPENAI_API_KEY")
}

func TestUsage(t *testing.T) {
	status, _, stderr := ask(t, clitest.Hang(), nil)
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "usage: lastresort QUESTION")
}

// Each failure has the reason from which the chain decides what to do next. No failure contains the key.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   clichain.Reason
	}{
		{401, `{"error": {"message": "no such key"}}`, clichain.ReasonUnauthenticated},
		{402, "", clichain.ReasonBilling},
		{404, "<html>", clichain.ReasonBadModel},
		{413, "", clichain.ReasonContextOverflow},
		{422, "", clichain.ReasonBadRequest},
		{429, `{"error": {"message": "slow down"}}`, clichain.ReasonRateLimited},
		{500, "", clichain.ReasonServerError},
		{503, "", clichain.ReasonOverloaded},
		{200, "{", clichain.ReasonBadOutput},
		{200, "{}", clichain.ReasonBadOutput},
		{200, `{"choices": [{}]}`, clichain.ReasonEmpty},
	} {
		t.Run(fmt.Sprint(test.status, test.want), func(t *testing.T) {
			err := fail(t.Context(), t, service(t, says(test.status, test.body)), clichain.Prompt("hi"))
			require.Equal(t, test.want, err.Reason)
			require.NotContains(t, err.Error(), key)
			if test.status == 429 {
				require.Equal(t, "slow down", err.Message)
				require.WithinDuration(t, time.Now().Add(90*time.Second), err.RetryAfter, time.Minute)
			}
		})
	}
}

// fail calls a chain that contains only the endpoint.
func fail(ctx context.Context, t *testing.T, a *api, req clichain.Request) *clichain.BackendError {
	t.Helper()
	chain := clichain.ChainOf([]clichain.Backend{clichain.BackendFunc("api", a.complete)}, nil)
	_, err := chain.Complete(ctx, req)
	var chainErr *clichain.ChainError
	require.ErrorAs(t, err, &chainErr)
	var failed *clichain.BackendError
	require.ErrorAs(t, chainErr.Attempts[0].Err, &failed)
	return failed
}

func TestEndpointUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	err := fail(t.Context(), t, &api{server.URL, key, "small"}, clichain.Prompt("hi"))
	require.Equal(t, clichain.ReasonNetwork, err.Reason)
	require.NotContains(t, err.Error(), key)
}

func TestPlainQuestionsOnly(t *testing.T) {
	a := service(t, func(http.ResponseWriter, *http.Request) { t.Error("the endpoint received a request") })
	for name, req := range map[string]clichain.Request{
		"access":  {Messages: clichain.Prompt("hi").Messages, Access: clichain.AccessRead},
		"option":  {Messages: clichain.Prompt("hi").Messages, Options: clichain.Options{MaxTurns: 1}},
		"session": {Messages: clichain.Prompt("hi").Messages, Session: "api:1"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, clichain.ReasonUnsupported, fail(t.Context(), t, a, req).Reason)
		})
	}
}

func TestCancel(t *testing.T) {
	asked := make(chan struct{})
	a := service(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then the server does not notice that the client has disconnected
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	require.Equal(t, clichain.ReasonCanceled, fail(ctx, t, a, clichain.Prompt("hi")).Reason)
}

// With a schema, the request asks the endpoint for JSON, and the answer is validated.
func TestStructured(t *testing.T) {
	var sent completion
	a := service(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "{\"n\": 42}"}}]}`)
	})
	type number struct {
		N int `json:"n"`
	}
	chain := clichain.ChainOf([]clichain.Backend{clichain.BackendFunc("api", a.complete)}, nil)
	got, _, err := clichain.CompleteAs[number](t.Context(), chain, clichain.Prompt("6*7?"))
	require.NoError(t, err)
	require.Equal(t, 42, got.N)
	require.Equal(t, "json_schema", sent.Format.Type)
	require.Contains(t, string(sent.Format.Schema.Schema), `"n"`)
}
