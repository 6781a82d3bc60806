package hosttools

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server offers functions to one process of a CLI, over HTTP on the loopback interface. The process may answer several
// calls, one after the other.
type server struct {
	defs    []mcp.Tool
	http    *http.Server
	addr    string
	path    string
	token   string
	serving group

	mu  sync.Mutex
	now *attached // nil between two calls
}

// attached is the call whose functions answer.
type attached struct {
	*running
	ctx context.Context // ends when the call is detached
}

// serve starts a server for functions with these definitions.
func serve(defs []mcp.Tool) (*call.HostServer, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{defs: defs, addr: listener.Addr().String(), path: "/" + rand.Text(), token: rand.Text() + rand.Text()}
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.newMCP() },
		&mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, Logger: slog.New(slog.DiscardHandler),
		})
	s.http = &http.Server{
		Handler: s.guard(handler), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.serving.Go(func() { _ = s.http.Serve(listener) }) // fails only after Close
	return &call.HostServer{
		Tools:  &call.HostTools{URL: "http://" + s.addr + s.path, Token: s.token, Acted: s.acted},
		Attach: s.attach, Close: s.close,
	}, nil
}

// attach lets the functions of the call of ctx answer.
func (s *server) attach(ctx context.Context) (detach func()) {
	r, ok := ctx.Value(runningKey{}).(*running)
	if !ok {
		return func() {}
	}
	of, cancel := context.WithCancel(ctx)
	s.set(&attached{r, of})
	return func() {
		s.set(nil)
		cancel()
	}
}

func (s *server) set(to *attached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = to
}

func (s *server) attached() *attached {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *server) acted() bool {
	now := s.attached()
	return now != nil && now.acted.Load()
}

// guard admits only the CLI of the server. A page in a browser sends another Host or an Origin, and other programs have
// no token. Each refusal is the same, because a 401 would make some CLIs look for a login.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := []byte(r.Header.Get("Authorization"))
		known := subtle.ConstantTimeCompare(given, []byte("Bearer "+s.token)) == 1
		if !known || r.Host != s.addr || r.URL.Path != s.path || len(r.Header.Values("Origin")) > 0 {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if !s.serving.enter() {
			http.Error(w, "the process has ended", http.StatusServiceUnavailable)
			return
		}
		defer s.serving.Done()
		next.ServeHTTP(w, r)
	})
}

// newMCP returns the server of one HTTP request.
func (s *server) newMCP() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "clichain", Version: "1"}, nil)
	for i := range s.defs {
		name := s.defs[i].Name
		mcp.AddTool(m, &s.defs[i], func(
			_ context.Context, r *mcp.CallToolRequest, _ map[string]any,
		) (*mcp.CallToolResult, any, error) {
			return result(s.run(name, r)), nil, nil
		})
	}
	return m
}

// run calls a function of the attached call. A CLI that closes its connection does not cancel the function.
func (s *server) run(name string, r *mcp.CallToolRequest) (any, error) {
	now := s.attached()
	if now == nil {
		return nil, errors.New("no call is in progress")
	}
	return now.run(now.ctx, now.tools[name], r.Params.Arguments)
}

func (s *server) close() {
	s.serving.close()
	_ = s.http.Close() // closes the connections; there is nothing to do about a failure
	s.serving.wait()
}
