package openai

import (
	"net/http"
	"slices"
)

// preflightHeaders are what a page of an allowed origin gets to know before it asks.
var preflightHeaders = map[string]string{
	"Access-Control-Allow-Methods":         "GET, POST",
	"Access-Control-Max-Age":               "600",
	"Access-Control-Allow-Private-Network": "true",
}

// exposedHeaders are those that it can read.
const exposedHeaders = backendHeader + ", " + attemptsHeader + ", X-Request-Id, Retry-After"

// guarded refuses what does not come from a program of this machine that has the token.
func (h *handler) guarded(next http.Handler) http.Handler {
	refuse := func(err *apiError) http.Handler {
		return h.wrap(func(w *reply, _ *http.Request) *apiError { return err })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		boundReading(w)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "Origin")
		if err := h.fromHere(r); err != nil {
			refuse(err).ServeHTTP(w, r)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w, r)
				return
			}
		}
		if err := h.authorized(r); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(err).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere refuses what a web page asks: under a name of its own that leads here, or from an origin that may not.
func (h *handler) fromHere(r *http.Request) *apiError {
	if !isLoopback(r.Host) {
		return mistake(http.StatusForbidden, "", "host_not_allowed",
			"this server is for requests to localhost, 127.0.0.1 or [::1]")
	}
	origins, sent := r.Header["Origin"]
	if sent && (len(origins) != 1 || !slices.Contains(h.AllowedOrigins, origins[0])) {
		return mistake(http.StatusForbidden, "", "origin_not_allowed",
			"requests of web pages are refused: clichain serve --allow-origin names the pages that may ask")
	}
	return nil
}

func preflight(w http.ResponseWriter, r *http.Request) {
	for name, value := range preflightHeaders {
		w.Header().Set(name, value)
	}
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		w.Header().Set("Access-Control-Allow-Headers", wanted)
	}
	w.WriteHeader(http.StatusNoContent)
}
