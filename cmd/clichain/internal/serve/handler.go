package serve

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

// Config sets what a handler serves. Backend and Token are needed; the rest has defaults.
type Config struct {
	// Backend answers.
	Backend clichain.Backend
	// Names are those of the backends that a model may name. Nil: only the chain itself is listed.
	Names []string
	// Token is what each request has to bring.
	Token string
	// Origins are those of web pages that may ask, such as "http://localhost:3000". Nil: none.
	Origins []string
	// Ignore names fields that have no effect, where they would be refused: see [Ignorable].
	Ignore []string
	// Jobs bounds how many answers are made at once. Zero: 4.
	Jobs int
	// Hold keeps the text of a stream until the answer is known, so that another backend can take over at any time.
	Hold bool
	// MaxBody bounds the bytes of a request. Zero: 8 MiB.
	MaxBody int64
	// Trace has a request's context go on with the trace that call.TraceOf finds there. Nil: only CLIs do.
	Trace func(context.Context) context.Context
	// Logger gets a record for each request: ids, backends and reasons, never what is asked or answered. Nil: silent.
	Logger *slog.Logger
}

const (
	defaultJobs    = 4
	defaultMaxBody = 8 << 20
	// maxWaiting bounds the requests in here at once, and maxWait how long one waits for its turn.
	maxWaiting = 64
	maxWait    = time.Minute
)

// ErrDraining is the cause with which a server ends the requests that it has no more time for.
var ErrDraining = errors.New("the server is shutting down")

// handler serves the three APIs.
type handler struct {
	Config
	gate    *gate
	created int64
}

// New makes a handler. It is safe for concurrent use.
func New(cfg Config) http.Handler {
	h := &handler{Config: cfg, created: time.Now().Unix()}
	h.Jobs = cmp.Or(h.Jobs, defaultJobs)
	h.MaxBody = cmp.Or(h.MaxBody, defaultMaxBody)
	if h.Logger == nil {
		h.Logger = slog.New(slog.DiscardHandler)
	}
	h.gate = newGate(h.Jobs)
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
