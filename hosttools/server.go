package hosttools

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxRequest = 4 << 20         // bytes of the body of a request
	lastWait   = 2 * time.Second // for functions that have not returned when the call ends
)

// server offers the tools of one call over HTTP on the loopback interface.
type server struct {
	http  *http.Server
	addr  string
	path  string
	token string
	calls running
	acted atomic.Bool
}

// newServer starts a server. The context that it returns ends with close, or if a function panics.
func newServer(ctx context.Context, tools []Tool) (context.Context, *server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	s := &server{addr: listener.Addr().String(), path: "/" + rand.Text(), token: rand.Text() + rand.Text()}
	ctx = s.calls.begin(ctx)
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.newMCP(tools) },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxRequest, Logger: slog.New(slog.DiscardHandler),
		})
	s.http = &http.Server{
		Handler: s.guard(handler), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.calls.Go(func() { _ = s.http.Serve(listener) }) // fails only after Close
	return ctx, s, nil
}

func (s *server) offer() *call.HostTools {
	return &call.HostTools{URL: "http://" + s.addr + s.path, Token: s.token, Acted: s.acted.Load}
}

// guard admits only the CLI of the call. A page in a browser sends another Host or an Origin, and other programs have
// no token. Each refusal is the same, because a 401 would make some CLIs look for a login.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := []byte(r.Header.Get("Authorization"))
		known := subtle.ConstantTimeCompare(given, []byte("Bearer "+s.token)) == 1
		if !known || r.Host != s.addr || r.URL.Path != s.path || len(r.Header.Values("Origin")) > 0 {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if !s.calls.enter() {
			http.Error(w, "the call has ended", http.StatusServiceUnavailable)
			return
		}
		defer s.calls.Done()
		next.ServeHTTP(w, r)
	})
}

// newMCP returns the server of one HTTP request.
func (s *server) newMCP(tools []Tool) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "clichain", Version: "1"}, nil)
	for i := range tools {
		t := &tools[i]
		mcp.AddTool(m, &mcp.Tool{
			Name: t.name, Description: t.doc, InputSchema: t.schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly},
		}, func(ctx context.Context, r *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
			if !t.ReadOnly {
				s.acted.Store(true)
			}
			return result(s.calls.run(ctx, t, r.Params.Arguments)), nil, nil
		})
	}
	return m
}

// close ends the server and the contexts of its functions. It repeats the panic of a function.
func (s *server) close() {
	s.calls.end()
	_ = s.http.Close() // closes the connections; there is nothing to do about a failure
	s.calls.wait()
	if value := s.calls.panic.Load(); value != nil {
		panic(*value)
	}
}

func (s *server) panicked() bool { return s.calls.panic.Load() != nil }
