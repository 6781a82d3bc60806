package serving

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai"
)

// pipes is a listener in memory. Its connections have no buffer.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func newPipes() *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.accepted <- server
	return client
}

// endless is a backend whose stream ends only with its call.
type endless struct{ ended chan time.Time }

func (endless) Name() string { return "endless" }

func (e endless) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(e.Stream(ctx, req))
}

func (e endless) Stream(ctx context.Context, _ clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		defer func() { e.ended <- time.Now() }()
		for ctx.Err() == nil && yield(clichain.Event{Kind: clichain.EventDelta, Backend: "endless", Text: "x"}, nil) {
		}
	}
}

const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\nContent-Type: application/json\r\n"

// atServer runs a test with a server in memory, and fake time. No goroutine may remain.
func atServer(t *testing.T, test func(t *testing.T, listener *pipes, backend endless)) {
	synctest.Test(t, func(t *testing.T) {
		backend := endless{make(chan time.Time, 1)}
		s := newHTTPServer(openai.NewHandler(backend, &openai.Config{Token: "token"}), slog.New(slog.DiscardHandler))
		listener := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, listener, time.Second) }()
		test(t, listener, backend)
		stop()
		require.NoError(t, <-stopped)
	})
}

// TestServerClosesSlowConnections checks how long a client can occupy a connection without a complete request.
func TestServerClosesSlowConnections(t *testing.T) {
	for _, test := range []struct {
		name, at, slowly string // the client sends one byte of slowly in each second
		limit            time.Duration
		answer           string
	}{
		{"no request", "", "", serveHeaderLimit, ""},
		{"slow header", "GET /v1/models HTTP/1.1\r\n", "X-Field: " + strings.Repeat("x", 1000), serveHeaderLimit, ""},
		{"slow body", head + "Content-Length: 1000\r\n\r\n", strings.Repeat(" ", 1000), time.Minute, "unreadable_body"},
		{"slow chunks", head + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\n \r\n", 1000), time.Minute, "unreadable_body"},
		{"idle after a request", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "", serveIdle, `{"status":"ok"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			atServer(t, func(t *testing.T, listener *pipes, _ endless) {
				c, start := listener.dial(), time.Now()
				defer c.Close()
				var writer sync.WaitGroup
				defer writer.Wait()
				writer.Go(func() {
					_, err := io.WriteString(c, test.at)
					for i := 0; err == nil && i < len(test.slowly); i++ {
						time.Sleep(time.Second)
						_, err = io.WriteString(c, test.slowly[i:i+1])
					}
				})
				answer, _ := io.ReadAll(c)
				require.Contains(t, string(answer), test.answer)
				require.InDelta(t, test.limit.Seconds(), time.Since(start).Seconds(), 2)
			})
		})
	}
}

// TestServerWithIdleConnections checks that connections without a request do not keep the server from answering, and
// that it closes all of them.
func TestServerWithIdleConnections(t *testing.T) {
	atServer(t, func(t *testing.T, listener *pipes, _ endless) {
		start := time.Now()
		idle := make([]net.Conn, 2000)
		for i := range idle {
			idle[i] = listener.dial()
		}
		c := listener.dial()
		_, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(answer), `{"status":"ok"}`)
		require.Zero(t, time.Since(start))
		for _, c := range idle {
			_, _ = io.ReadAll(c)
			require.NoError(t, c.Close())
		}
		require.InDelta(t, serveHeaderLimit.Seconds(), time.Since(start).Seconds(), 1)
	})
}

// TestServerEndsUnreadStream checks that the call ends if its client stays connected and does not read.
func TestServerEndsUnreadStream(t *testing.T) {
	atServer(t, func(t *testing.T, listener *pipes, backend endless) {
		c, start := listener.dial(), time.Now()
		defer c.Close()
		body := `{"stream":true,"messages":[{"role":"user","content":"hi"}]}`
		_, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
		require.NoError(t, err)
		require.InDelta(t, 30, (<-backend.ended).Sub(start).Seconds(), 1)
	})
}
