package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestLongAnswer(t *testing.T) {
	long := strings.Repeat("ä", maxResult)
	c := newServer(answering("claude", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "x" + long, Backend: "claude"}, nil
	})).connect(t, "any", nil)
	got := c.answers("ask", arguments{"prompt": "P"})
	require.Equal(t, "x"+long[:maxResult-2], got[0], "no half of a character")
	require.Equal(t, "Answered by claude. Only the first 99999 of 200001 bytes are shown: ask for a shorter answer.", got[1])
	s := newServer()
	s.usage = func(context.Context) (any, error) { return long, nil }
	require.Equal(t, clichain.ReasonOutputLimit, s.connect(t, "any", nil).fails("usage", nil).Reason)
}

// The error has the reasons of all attempts, and no output of a CLI.
func TestFailure(t *testing.T) {
	failing := func(name string, reason clichain.Reason) backend {
		return answering(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
			be := call.Errorf(reason, "", "sorry %s", strings.Repeat("x", 2*maxMessage))
			be.Backend, be.Stderr, be.Partial = name, "secret", "secret"
			return nil, be
		})
	}
	c := newServer(failing("claude", clichain.ReasonUsageLimit), failing("codex", clichain.ReasonUnauthenticated)).connect(t, "any", nil)
	result := c.call("ask", arguments{"prompt": "P"})
	data, err := json.Marshal(result)
	require.NoError(t, err)
	require.NotContains(t, string(data), "secret")
	require.Less(t, len(data), 5*maxMessage)
	f := c.fails("ask", arguments{"prompt": "P"})
	require.Equal(t, []clichain.Reason{"usage_limit", "unauthenticated"}, []clichain.Reason{f.Attempts[0].Reason, f.Attempts[1].Reason})
	require.Contains(t, []clichain.Reason{"usage_limit", "unauthenticated"}, f.Reason)
}

// hanging returns a backend whose calls end only by their context, and the numbers of its calls.
func hanging() (b backend, begun chan struct{}, running *atomic.Int64) {
	begun, running = make(chan struct{}, 1000), &atomic.Int64{}
	return answering("claude", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
		running.Add(1)
		defer running.Add(-1)
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}), begun, running
}

func TestCancel(t *testing.T) {
	b, begun, running := hanging()
	c := newServer(b).connect(t, "any", nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: arguments{"prompt": "P"}})
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return running.Load() == 0 }, consoletest.Patience, time.Millisecond)
	c.close()
}

func TestCloseEndsCalls(t *testing.T) {
	b, begun, running := hanging()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- newServer(b).serve(t.Context(), reader, io.Discard) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"prompt":"P"}}}`,
	} {
		_, err := io.WriteString(writer, line+"\n")
		require.NoError(t, err)
	}
	<-begun
	require.NoError(t, writer.Close())
	require.NoError(t, <-ended)
	require.Zero(t, running.Load())
}

func TestStopEndsCalls(t *testing.T) {
	b, begun, running := hanging()
	ctx, stop := context.WithCancelCause(t.Context())
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- newServer(b).run(ctx, there) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "a", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	go func() {
		_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: arguments{"prompt": "P"}})
	}()
	<-begun
	stop(errors.New("SIGTERM"))
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Zero(t, running.Load())
}

func TestConcurrency(t *testing.T) {
	b, begun, running := hanging()
	s := newServer(b)
	s.jobs = 2
	c := s.connect(t, "any", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range maxWaiting * s.jobs {
		go func() { _, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: arguments{"prompt": "P"}}) }()
	}
	<-begun
	<-begun
	require.Eventually(t, func() bool { return len(s.waiting) == cap(s.waiting) }, consoletest.Patience, time.Millisecond)
	f := c.fails("ask", arguments{"prompt": "P"})
	require.Equal(t, clichain.ReasonOverloaded, f.Reason)
	require.Contains(t, f.Message, "32 calls are in progress or waiting")
	require.EqualValues(t, 2, running.Load())
	require.Empty(t, begun)
	cancel()
	require.Eventually(t, func() bool { return len(s.waiting) == 0 }, consoletest.Patience, time.Millisecond)
	require.Zero(t, running.Load())
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		p := &progress{over: make(chan struct{}), message: "looking", notify: func(n int, message string) {
			require.Len(t, sent, n-1, "it increases")
			sent = append(sent, message)
		}}
		p.stopped.Go(p.run)
		see := p.hooks().Event
		synctest.Wait()
		see(t.Context(), clichain.Event{Kind: clichain.EventStart, Backend: "claude"})
		see(t.Context(), clichain.Event{Kind: clichain.EventDelta, Backend: "claude", Text: "secret"})
		time.Sleep(progressPause * 3 / 2)
		see(t.Context(), clichain.Event{Kind: clichain.EventToolUse, Backend: "claude", Name: "Bash", Input: json.RawMessage(`"secret"`)})
		time.Sleep(2*progressAlive + 2*progressPause)
		p.end()
		using := "claude: using Bash"
		require.Equal(t, []string{"looking", "claude: answering", using, using, using}, sent)
	})
}

func TestProgressReachesClient(t *testing.T) {
	release := make(chan struct{})
	b := answering("claude", func(context.Context, clichain.Request) (*clichain.Response, error) {
		<-release
		return &clichain.Response{Text: "fine", Backend: "claude"}, nil
	})
	c := newServer(b).connect(t, "any", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if r.Params.ProgressToken == "T" && r.Params.Progress == 1 {
				close(release)
			}
		},
	})
	params := &mcp.CallToolParams{Name: "ask", Arguments: arguments{"prompt": "P"}}
	params.SetProgressToken("T")
	result, err := c.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.False(t, result.IsError)
}
