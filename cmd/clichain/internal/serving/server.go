package serving

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/service"
	"github.com/clichain/clichain/openai"
)

const (
	serveHeaderLimit = 10 * time.Second
	serveIdle        = 2 * time.Minute
	// endLimit limits the time to end canceled requests, whose CLIs must end first.
	endLimit = 20 * time.Second
)

// httpServer answers requests until run returns.
type httpServer struct {
	http.Server
	log *slog.Logger
	cut context.CancelCauseFunc // cancels the requests in flight
}

func newHTTPServer(handler http.Handler, log *slog.Logger) *httpServer {
	answers, cut := context.WithCancelCause(context.Background())
	return &httpServer{log: log, cut: cut, Server: http.Server{
		Handler: returningMemory(handler), ReadHeaderTimeout: serveHeaderLimit, IdleTimeout: serveIdle,
		MaxHeaderBytes: service.MaxHeader, ConnContext: limitBuffer,
		BaseContext: func(net.Listener) context.Context { return answers },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
}

// run serves until ctx ends, and returns when no request is in flight.
func (s *httpServer) run(ctx context.Context, listener net.Listener, grace time.Duration) error {
	defer s.cut(nil)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	s.log.Info("serving", "address", listener.Addr().String())
	select {
	case err := <-served:
		return console.Fail(console.ExitFailed, errors.Join(err, s.Close()))
	case <-ctx.Done():
	}
	err := s.drain(context.WithoutCancel(ctx), grace)
	if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	s.log.Info("stopped")
	return nil
}

// drain waits for requests in flight for at most the grace, and then cancels them.
func (s *httpServer) drain(ctx context.Context, grace time.Duration) error {
	s.log.Info("draining: no more requests are taken", "grace", grace)
	err := s.shutdown(ctx, grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cut(openai.ErrDraining)
		err = s.shutdown(ctx, endLimit)
	}
	return errors.Join(err, s.Close())
}

func (s *httpServer) shutdown(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.Shutdown(ctx)
}
