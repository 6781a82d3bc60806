package openai

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// endpoint answers a request, or returns the error for the client. An error after the first write is only logged.
type endpoint func(w *reply, r *http.Request) *apierror.Error

// handler returns a handler that gives each request an id, sends the error, and logs the request.
func (serve endpoint) handler(log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w := &reply{ResponseWriter: rw, id: "req_" + newID()}
		w.Header().Set("X-Request-Id", w.id)
		err := serve(w, r)
		if err != nil && w.status == 0 && !w.clientLeft(r) {
			w.fail(err)
		}
		logRequest(log, w, r, err, time.Since(start))
	})
}

// clientLeft reports whether the client did not wait for the whole answer. The context also ends when the limit for the
// body of the request is exceeded, but then the client is still there.
func (w *reply) clientLeft(r *http.Request) bool {
	left := r.Context().Err() != nil && !errors.Is(context.Cause(r.Context()), ErrDraining)
	return left && !w.complete && !w.timedOut
}

func logRequest(log *slog.Logger, w *reply, r *http.Request, err *apierror.Error, took time.Duration) {
	level := slog.LevelInfo
	attrs := []any{
		"id", w.id, "endpoint", cmp.Or(r.Pattern, r.Method), "status", w.status, "duration", took.Round(time.Millisecond),
	}
	if w.backend != "" {
		attrs = append(attrs, "backend", w.backend)
	}
	if w.clientLeft(r) {
		attrs = append(attrs, "reason", "the client left")
	} else if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, "reason", err.Label())
	}
	log.Log(context.WithoutCancel(r.Context()), level, "request", attrs...)
}
