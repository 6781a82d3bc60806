// Package monitoring serves the health and the metrics of a service over HTTP. The requests need no token, so the
// responses have no prompts, answers, paths or output of CLIs.
package monitoring

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
)

const (
	// readLimit limits the time to read a request, and writeLimit the time to collect and write its response.
	readLimit  = 5 * time.Second
	writeLimit = 15 * time.Second
	idleLimit  = 30 * time.Second
	maxHeader  = 8 << 10
)

// ParseAddress returns an address HOST:PORT unchanged, or an error. The host is required, so that no user opens an
// address to other machines by accident.
func ParseAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || !isPort(port) {
		return "", errors.New("write HOST:PORT, such as 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses of this machine")
	}
	return text, nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// Listener is an address with its handler. Without an Address, Listen does nothing.
type Listener struct {
	Flag    string // for errors, such as "--health"
	Message string // for the log
	Address string
	Local   bool // refuse an address that other machines can reach
	Handler http.Handler
}

// Listen serves the handler until stop is called. At a loopback address it rejects requests with another host name.
func (l Listener) Listen(ctx context.Context, log *slog.Logger) (stop func() error, err error) {
	if l.Address == "" {
		return func() error { return nil }, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", l.Address)
	if err != nil {
		return nil, console.Usagef("%s: %v", l.Flag, err)
	}
	handler := l.Handler
	tcp, ok := listener.Addr().(*net.TCPAddr)
	switch {
	case ok && tcp.IP.IsLoopback():
		handler = localOnly(handler)
	case l.Local: // /etc/hosts may name another address
		_ = listener.Close()
		return nil, console.Usagef("%s: %s is not an address of this machine alone: use 127.0.0.1", l.Flag, l.Address)
	default:
		log.Warn("other machines can read this address without a token", "flag", l.Flag, "address", l.Address)
	}
	server := &http.Server{
		Handler: withHeaders(handler), MaxHeaderBytes: maxHeader,
		ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.Info(l.Message, "address", listener.Addr().String())
	return func() error {
		err := server.Close()
		if served := <-served; !errors.Is(served, http.ErrServerClosed) {
			return errors.Join(served, err)
		}
		return err
	}, nil
}

// localOnly rejects requests with another host name, because a web page could rebind its own name to this address.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !loopback.Is(loopback.HostOf(r.Host)) {
			http.Error(rw, "this address is for requests to localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Content-Type-Options", "nosniff")
		rw.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(rw, r)
	})
}
