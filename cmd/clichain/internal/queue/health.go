package queue

import (
	"context"
	"net/http"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/monitoring"
)

// listen serves the health of a worker until stop is called. Without an address it does nothing.
func (w *monitor) listen(ctx context.Context, address string) (stop func() error, err error) {
	return monitoring.Listener{
		Flag: "--health", Message: "health is served", Address: address, Local: true, Handler: w.handler(),
	}.Listen(ctx, w.log)
}

func (w *monitor) handler() http.Handler {
	mux := http.NewServeMux()
	w.probes().Mount(mux)
	mux.HandleFunc("GET /status", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = console.WriteJSON(rw, w.status(), false) // the client may have disconnected
	})
	return mux
}

// probes returns the checks of the worker. It is ready if it is healthy and can ask a backend of its chain.
// A pause is no problem, because a rollout during a pause must not wait for its end.
func (w *monitor) probes() monitoring.Probes {
	return monitoring.Probes{
		Healthy: func() string {
			switch s := w.status(); {
			case s.Draining:
				return "draining"
			case !s.Connected:
				return "no NATS server"
			}
			return ""
		},
		Ready: func(ctx context.Context) string {
			w.mu.Lock()
			chain := w.chain
			w.mu.Unlock()
			if chain == nil {
				return "starting"
			}
			return monitoring.Unready(ctx, chain)
		},
		Note: func() string {
			if p := w.status().Paused; p != nil {
				return "the queue is paused until " + endOf(p)
			}
			return ""
		},
	}
}

// works sets the chain that answers the jobs.
func (w *monitor) works(chain *clichain.Chain) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chain = chain
}
