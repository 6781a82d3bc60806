package monitoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/clichain/clichain"
)

// Probes answer whether a service works. Each function returns the problem, or "".
type Probes struct {
	Healthy func() string
	Ready   func(ctx context.Context) string
	// Note returns what /readyz adds to ok, or "". It may be nil.
	Note func() string
}

// Mount adds /livez, /healthz and /readyz. /livez answers 200 as long as the process does.
func (p Probes) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, "") })
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, p.Healthy()) })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		problem := p.Healthy()
		if problem == "" {
			problem = p.Ready(r.Context())
		}
		if problem == "" && p.Note != nil {
			if note := p.Note(); note != "" {
				rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
				_, _ = io.WriteString(rw, "ok: "+note+"\n") // the client may have disconnected
				return
			}
		}
		answer(rw, problem)
	})
}

func answer(rw http.ResponseWriter, problem string) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if problem == "" {
		_, _ = io.WriteString(rw, "ok\n") // the client may have disconnected
		return
	}
	rw.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(rw, problem+"\n")
}

// Handler serves the probes and the metrics.
func Handler(p Probes, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	p.Mount(mux)
	mux.Handle("GET /metrics", metrics)
	return mux
}

// Unready returns why a call would ask no backend of the chain: its backends with their reasons. It returns "" if a
// call would ask one.
func Unready(ctx context.Context, chain *clichain.Chain) string {
	failure, _ := errors.AsType[*clichain.ChainError](chain.Ready(ctx))
	if failure == nil || failure.Note != "" { // the note reports that a call is possible
		return ""
	}
	var reasons []string
	for _, a := range failure.Attempts {
		reasons = append(reasons, fmt.Sprintf("%s: %s", a.Backend, a.Reason))
	}
	if len(reasons) == 0 {
		return "no backend: " + string(failure.Reason())
	}
	return "no backend: " + strings.Join(reasons, ", ")
}
