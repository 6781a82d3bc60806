package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/openai"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

// patience is a time limit far above the duration of any step in these tests.
const patience = 90 * time.Second

const token = "0123456789abcdef"

// script is a backend that yields the same events for each request, and records the requests.
type script struct {
	events []clichain.Event
	err    error
	asked  chan clichain.Request // nil records no requests

	yielded func(clichain.Event) // is called before each event; may be nil
}

func (s *script) Name() string { return "one" }

func (s *script) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(s.Stream(ctx, req))
}

func (s *script) Stream(_ context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	if s.asked != nil {
		s.asked <- req
	}
	return func(yield func(clichain.Event, error) bool) {
		for _, e := range s.events {
			if s.yielded != nil {
				s.yielded(e)
			}
			if !yield(e, nil) {
				return
			}
		}
		if s.err != nil {
			yield(clichain.Event{}, s.err)
		}
	}
}

// says returns a backend whose text arrives in the given pieces.
func says(pieces ...string) *script {
	s := &script{}
	s.events = append(s.events, clichain.Event{Kind: clichain.EventStart, Backend: "one"},
		clichain.Event{Kind: clichain.EventSession, Backend: "one", Model: "one-large"})
	for _, p := range pieces {
		s.events = append(s.events, delta(p))
	}
	s.events = append(s.events, done(strings.Join(pieces, "")))
	return s
}

func delta(text string) clichain.Event {
	return clichain.Event{Kind: clichain.EventDelta, Backend: "one", Text: text}
}

func reset() clichain.Event { return clichain.Event{Kind: clichain.EventReset, Backend: "one"} }

func done(text string) clichain.Event {
	return clichain.Event{Kind: clichain.EventDone, Backend: "one", Response: &clichain.Response{
		Text: text, Backend: "one", Model: "one-large", Billing: call.BillingSubscription,
		Usage:    clichain.Usage{InputTokens: 12, OutputTokens: 7, CacheReadTokens: 3, ReasoningTokens: 2},
		Attempts: []clichain.Attempt{{Backend: "zero", Reason: clichain.ReasonNotInstalled, Skipped: true}},
	}}
}

// serving returns a running server for a backend.
func serving(t *testing.T, b clichain.Backend, change ...func(*openai.Config)) *httptest.Server {
	t.Helper()
	cfg := openai.Config{Backends: []string{"zero", "one"}, Token: token}
	for _, c := range change {
		c(&cfg)
	}
	s := httptest.NewServer(openai.NewHandler(b, &cfg))
	t.Cleanup(s.Close)
	return s
}

// answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   string
}

// failure returns the error in the body of a response.
func (a answer) failure(t *testing.T) (e struct{ Message, Type, Param, Code string }) {
	t.Helper()
	var body struct{ Error *json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), a.body)
	require.NotNil(t, body.Error, a.body)
	require.NoError(t, json.Unmarshal(*body.Error, &e))
	for _, field := range []string{"message", "type", "param", "code"} {
		require.Contains(t, string(*body.Error), `"`+field+`":`)
	}
	return e
}

// quoted returns a text as the server writes it.
func quoted(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(text))
	return strings.TrimSpace(out.String())
}

func request(t *testing.T, s *httptest.Server, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func do(t *testing.T, s *httptest.Server, r *http.Request) answer {
	t.Helper()
	resp, err := s.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp.StatusCode, resp.Header, string(body)}
}

func post(t *testing.T, s *httptest.Server, path, body string) answer {
	t.Helper()
	return do(t, s, request(t, s, http.MethodPost, path, body))
}

const (
	chat      = "/v1/chat/completions"
	responses = "/v1/responses"
	hi        = `{"model":"clichain","messages":[{"role":"user","content":"hi"}]}`
)
