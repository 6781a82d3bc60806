package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/clichain/clichain/permit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server answers the calls of one MCP client.
type server struct {
	backends    []backend
	chain       func(backends []clichain.Backend, hooks *clichain.Hooks) *clichain.Chain
	specs       []clichain.CliSpec // of the CLIs that the client may be
	caller      string             // the backend of the client; empty: by the name that the client sends
	permissions permit.Permissions
	jobs        int // limit of concurrent calls
	depth       int // calls of clichain that contain this process
	maxDepth    int
	log         *slog.Logger
	usage       func(ctx context.Context) (any, error)
	doctor      func(ctx context.Context) (any, error)

	slots   chan struct{}
	waiting chan struct{} // calls in progress, and calls that wait for a slot
	stopped context.Context
	calls   sync.WaitGroup
}

// backend is a backend with its spec, which has the vendor.
type backend struct {
	clichain.Backend
	spec clichain.CliSpec
}

// maxWaiting is the limit of calls in progress and of waiting calls, for each slot.
const maxWaiting = 16

// serve answers the client until it closes in, or until ctx ends. It returns when all processes of the calls have
// ended.
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: keepOpen{out}})
}

func (s *server) run(ctx context.Context, t mcp.Transport) error {
	ctx, stop := context.WithCancelCause(ctx)
	s.stopped = ctx
	s.slots, s.waiting = make(chan struct{}, s.jobs), make(chan struct{}, maxWaiting*s.jobs)
	served := mcp.NewServer(&mcp.Implementation{Name: "clichain", Version: version.Read().Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.tools() {
		served.AddTool(&t.Tool, s.handler(t))
	}
	err := served.Run(ctx, t)
	stop(errors.New("the MCP client closed the connection"))
	s.calls.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// handler returns the function that answers the calls of a tool.
func (s *server) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.calls.Add(1)
		defer s.calls.Done()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.stopped, func() { cancel(context.Cause(s.stopped)) })()
		began := time.Now()
		result, by, err := s.answer(ctx, t, req)
		attrs := []any{"tool", t.Name, "client", clientName(req), "duration", time.Since(began).Round(time.Millisecond)}
		if err != nil {
			failed := failureOf(err)
			s.log.Warn("failed", append(attrs, "reason", failed.Reason)...)
			return failed.result(), nil
		}
		if by != "" {
			attrs = append(attrs, "backend", by)
		}
		s.log.Info("answered", attrs...)
		return result, nil
	}
}

// answer runs a tool in a slot. by is the backend that answered, if any.
func (s *server) answer(
	ctx context.Context, t tool, req *mcp.CallToolRequest,
) (_ *mcp.CallToolResult, by string, err error) {
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return nil, "", call.Errorf(clichain.ReasonOverloaded, "",
			"%d calls are in progress or waiting: wait for their answers", cap(s.waiting))
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, "", fmt.Errorf("%w: %w", clichain.ErrCanceled, context.Cause(ctx))
	}
	return t.run(ctx, req)
}

// clientName returns the name that the client sends.
func clientName(req *mcp.CallToolRequest) string {
	if info := req.ClientInfo(); info != nil {
		return info.Name
	}
	return ""
}

// keepOpen is a writer that the end of a connection does not close.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
