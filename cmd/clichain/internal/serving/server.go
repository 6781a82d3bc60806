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
	// endLimit bounds the end of answers that are cut short: their CLIs are ended before they return.
	endLimit = 20 * time.Second
)

// httpServer answers requests until it is told to stop.
type httpServer struct {
	http.Server
	log *slog.Logger
	cut context.CancelCauseFunc // ends the answers that are on their way
}

func newHTTPServer(handler http.Handler, log *slog.Logger) *httpServer {
	answers, cut := context.WithCancelCause(context.Background())
	return &httpServer{log: log, cut: cut, Server: http.Server{
		Handler: handler, ReadHeaderTimeout: serveHeaderLimit, IdleTimeout: serveIdle, MaxHeaderBytes: service.MaxHeader,
		BaseContext: func(net.Listener) context.Context { return answers },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
}

// run serves until ctx ends, and returns when no answer is on its way any more.
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

// drain lets answers go on for the grace, and then cuts them short.
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
