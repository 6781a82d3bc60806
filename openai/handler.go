package openai

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/clichain/clichain"
)

// Config sets who may use a handler, and how it answers. Requests fail with status 401 as long as Token is empty; the
// zero value of the other fields selects a default.
//
// The handler answers only requests whose Host header names this machine: localhost or a loopback address, with any
// port. It refuses other hosts with status 403, so that a web page cannot reach it under a name of its own.
type Config struct {
	// Token is the bearer token that each request must have.
	Token string
	// Backends are the names that requests may use as model, beside "clichain". /v1/models lists them.
	Backends []string
	// AllowedOrigins are the origins of web pages that may send requests, such as "http://localhost:3000". Nil: none.
	AllowedOrigins []string
	// IgnoredFields are request fields that have no effect; without an entry here the handler refuses them. See
	// [IgnorableFields].
	IgnoredFields []string
	// Concurrency limits how many requests are answered at the same time. Zero: 4. Of the other requests, 64 wait for at
	// most a minute.
	Concurrency int
	// BufferStreams sends the text of a stream when the answer is complete, so that the backend can fail over until then.
	BufferStreams bool
	// MaxBodyBytes limits the body of a request. Zero: 8 MiB.
	MaxBodyBytes int64
	// Trace returns the context for the backend. The context that it gets has the request's trace: see call.TraceOf. Nil:
	// the context is used as it is.
	Trace func(context.Context) context.Context
	// Logger gets one record per request: id, endpoint, status, duration, backend and reason, but no prompt and no answer.
	// Nil: no log.
	Logger *slog.Logger
}

const (
	defaultConcurrency  = 4
	defaultMaxBodyBytes = 8 << 20
	// maxWaiting bounds the requests in here at once, and maxWait how long one waits for its turn.
	maxWaiting = 64
	maxWait    = time.Minute
)

// ErrDraining is the cause with which a server cancels the contexts of requests when it shuts down. The handler then
// answers with status 503; it answers nothing where the context ends for another cause, because the client has left.
var ErrDraining = errors.New("the server is shutting down")

// handler serves the three APIs.
type handler struct {
	Config
	backend clichain.Backend
	gate    *gate
	created int64
}

// NewHandler returns a handler that answers the requests of OpenAI clients with backend: POST /v1/chat/completions,
// POST /v1/responses and GET /v1/models. It copies config. The handler is safe for concurrent use.
func NewHandler(backend clichain.Backend, config *Config) http.Handler {
	h := &handler{backend: backend, Config: *config, created: time.Now().Unix()}
	h.Concurrency = cmp.Or(h.Concurrency, defaultConcurrency)
	h.MaxBodyBytes = cmp.Or(h.MaxBodyBytes, defaultMaxBodyBytes)
	if h.Logger == nil {
		h.Logger = slog.New(slog.DiscardHandler)
	}
	h.gate = newGate(h.Concurrency)
	mux := http.NewServeMux()
	for path, way := range map[string]struct {
		method string
		serve  endpoint
	}{
		"/v1/chat/completions":  {http.MethodPost, h.answers(chatAPI)},
		"/v1/responses":         {http.MethodPost, h.answers(responsesAPI)},
		"/v1/models":            {http.MethodGet, h.listModels},
		"/v1/models/{model...}": {http.MethodGet, h.getModel},
	} {
		mux.Handle(way.method+" "+path, h.wrap(way.serve))
		mux.Handle(path, h.wrap(onlyBy(way.method)))
	}
	mux.Handle("/", h.wrap(unknownURL))
	return h.guarded(mux)
}

// endpoint answers a request, or returns the error to answer with. Once it has written, its error is only logged.
type endpoint func(w *reply, r *http.Request) *apiError

// reply is a response, and what is logged of it.
type reply struct {
	http.ResponseWriter
	id      string
	status  int // zero: nothing was written
	backend string
}

// WriteHeader notes the status.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes that there is a status.
func (w *reply) Write(data []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// wrap gives a request its id, and writes and logs what came of it.
func (h *handler) wrap(serve endpoint) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		w := &reply{ResponseWriter: rw, id: newID("req_")}
		w.Header().Set("X-Request-Id", w.id)
		failed := serve(w, r)
		if failed != nil && w.status == 0 && !gone(r) {
			failed.write(w)
		}
		h.log(w, r, failed, time.Since(began))
	})
}

// gone reports whether nobody waits for the answer any more.
func gone(r *http.Request) bool {
	return r.Context().Err() != nil && !errors.Is(context.Cause(r.Context()), ErrDraining)
}

func (h *handler) log(w *reply, r *http.Request, failed *apiError, took time.Duration) {
	level := slog.LevelInfo
	attrs := []any{
		"id", w.id, "endpoint", cmp.Or(r.Pattern, r.Method), "status", w.status, "duration", took.Round(time.Millisecond),
	}
	if w.backend != "" {
		attrs = append(attrs, "backend", w.backend)
	}
	if gone(r) {
		attrs = append(attrs, "reason", "the client left")
	} else if failed != nil {
		level = slog.LevelWarn
		attrs = append(attrs, "reason", failed.code())
	}
	h.Logger.Log(context.WithoutCancel(r.Context()), level, "request", attrs...)
}

func unknownURL(_ *reply, r *http.Request) *apiError {
	return mistake(http.StatusNotFound, "", "unknown_url",
		"there is no %s %s here: see /v1/models, /v1/chat/completions and /v1/responses", r.Method, r.URL.Path)
}

func onlyBy(method string) endpoint {
	return func(w *reply, r *http.Request) *apiError {
		w.Header().Set("Allow", method)
		return mistake(http.StatusMethodNotAllowed, "", "method_not_allowed",
			"%s is not for %s: use %s", r.URL.Path, r.Method, method)
	}
}

// newID is an id that no other answer has.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
