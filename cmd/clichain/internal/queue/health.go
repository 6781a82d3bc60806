package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
)

const (
	// healthLimit limits the time to read a request and to write its response.
	healthLimit = 5 * time.Second
	healthIdle  = 30 * time.Second
)

// listen serves the health of a worker until stop is called. Without an address it does nothing.
func (w *monitor) listen(ctx context.Context, address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, console.Usagef("--health: %v", err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() { // /etc/hosts may name another address
		_ = listener.Close()
		return nil, console.Usagef("--health: %s is not an address of this machine alone: use 127.0.0.1", address)
	}
	server := &http.Server{
		Handler: localOnly(w.handler()), MaxHeaderBytes: service.MaxHeader,
		ReadTimeout: healthLimit, WriteTimeout: healthLimit, IdleTimeout: healthIdle,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	w.log.Info("health is served", "address", listener.Addr().String())
	return func() error {
		err := server.Close()
		if served := <-served; !errors.Is(served, http.ErrServerClosed) {
			return errors.Join(served, err)
		}
		return err
	}, nil
}

func (w *monitor) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok"
		switch s := w.status(); {
		case s.Draining:
			text = "draining"
		case !s.Connected:
			text = "no NATS server"
		}
		if text != "ok" {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(rw, text)
	})
	mux.HandleFunc("GET /status", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = console.WriteJSON(rw, w.status(), false) // the client may have disconnected
	})
	return mux
}

// localOnly rejects requests with another host name, because a web page could rebind its own name to this address.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !loopback.Is(loopback.HostOf(r.Host)) {
			http.Error(rw, "this address is for requests to localhost", http.StatusForbidden)
			return
		}
		rw.Header().Set("X-Content-Type-Options", "nosniff")
		rw.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(rw, r)
	})
}
