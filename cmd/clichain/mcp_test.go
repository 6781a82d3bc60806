package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// mcpSession is a running "clichain mcp" process with a client.
type mcpSession struct {
	*mcp.ClientSession
	t   *testing.T
	cmd *exec.Cmd
	in  io.Closer // stdin of the server
	log *bytes.Buffer
}

// mcp starts the server as the MCP client with a name.
func (w *world) mcp(client string, args ...string) *mcpSession {
	w.t.Helper()
	return w.mcpOf(client, w.command(append([]string{"mcp"}, args...)...))
}

func (w *world) mcpOf(client string, cmd *exec.Cmd) *mcpSession {
	w.t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	s := &mcpSession{t: w.t, cmd: cmd, in: in, log: &bytes.Buffer{}}
	s.cmd.Stderr = s.log
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: client, Version: "1"}, nil).Connect(w.t.Context(),
		&mcp.IOTransport{Reader: out, Writer: in}, nil)
	require.NoError(w.t, err, "%s", s.log)
	return s
}

// ask calls a tool and returns the first text of the result.
func (s *mcpSession) ask(ctx context.Context, tool, prompt string) (text string, failed bool, err error) {
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"prompt": prompt}})
	if err != nil {
		return "", false, err
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError, nil
}

// end closes stdin, and returns the log when the process has ended.
func (s *mcpSession) end() string {
	s.t.Helper()
	_ = s.in.Close() // the client has closed it if the server ended first
	require.NoError(s.t, s.cmd.Wait(), "%s", s.log)
	return s.log.String()
}

func TestMCP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "loggedout", "")
	w.fake("codex", "answer", "secret answer")
	s := w.mcp("claude-code", "--only", "claude,codex")
	require.Equal(t, "clichain", s.InitializeResult().ServerInfo.Name)
	text, failed, err := s.ask(t.Context(), "ask", "secret question")
	require.NoError(t, err)
	require.False(t, failed, text)
	require.Equal(t, "secret answer", text)
	text, failed, err = s.ask(t.Context(), "second_opinion", "secret question")
	require.NoError(t, err)
	require.False(t, failed, text)
	report, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "doctor"})
	require.NoError(t, err)
	require.Contains(t, report.Content[0].(*mcp.TextContent).Text, `"name":"codex"`)
	report, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "usage"})
	require.NoError(t, err)
	require.Equal(t, `{"accounts":[]}`, report.Content[0].(*mcp.TextContent).Text)
	log := s.end()
	require.Contains(t, log, "msg=answered tool=ask client=claude-code")
	require.Contains(t, log, "backend=codex")
	require.NotContains(t, log, "secret")
}

// The answer goes to the service of another vendor, so it has no secret of the environment.
func TestMCPRedactsAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "the key is sk-hidden-0123456789")
	cmd := w.command("mcp", "--only", "claude")
	cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY=sk-hidden-0123456789")
	s := w.mcpOf("any", cmd)
	text, failed, err := s.ask(t.Context(), "ask", "hi")
	require.NoError(t, err)
	require.False(t, failed, text)
	require.Contains(t, text, "the key is")
	require.NotContains(t, text, "hidden")
	s.end()
}

// begun starts a call that hangs, and returns when the fake runs. Its result is sent when the call has ended.
func (s *mcpSession) begun(ctx context.Context, fake string) chan error {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.ask(ctx, "ask", "hi")
		ended <- err
	}()
	require.Eventually(s.t, func() bool { return len(clitest.Survivors(fake)) > 0 }, consoletest.Patience, time.Millisecond)
	return ended
}

// A cancellation, the end of stdin and a signal end the processes of a call.
func TestMCPEndsCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.fake("claude", "hang", "")
	s := w.mcp("any", "--only", "claude")
	ctx, cancel := context.WithCancel(t.Context())
	ended := s.begun(ctx, fake)
	cancel()
	require.Error(t, <-ended)
	require.Eventually(t, func() bool { return len(clitest.Survivors(fake)) == 0 }, consoletest.Patience, time.Millisecond)

	ended = s.begun(t.Context(), fake)
	s.end()
	require.Error(t, <-ended)
	require.Empty(t, clitest.Survivors(fake))

	s = w.mcp("any", "--only", "claude")
	ended = s.begun(t.Context(), fake)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-ended // with a result if it is sent before the process ends
	s.end()
	require.Empty(t, clitest.Survivors(fake))
}

// The server is started by an agent that clichain asked.
func TestMCPDepth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := filepath.Join(t.TempDir(), "record")
	w.fake("claude", "record", record)
	for _, test := range []struct {
		args   []string
		refuse bool
	}{{nil, true}, {[]string{"--max-depth", "2"}, false}} {
		cmd := w.command(append([]string{"mcp", "--only", "claude"}, test.args...)...)
		cmd.Env = append(cmd.Env, "CLICHAIN_RUN=outer")
		s := w.mcpOf("any", cmd)
		text, failed, err := s.ask(t.Context(), "ask", "hi")
		require.NoError(t, err)
		require.Equal(t, test.refuse, failed, text)
		s.end()
	}
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Regexp(t, `(?m)^CLICHAIN_RUN=outer,[^,]+$`, strings.Join(r.Env, "\n"))
}

func TestMCPRejectsUnknownCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.command("mcp", "--caller", "cluade").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), `--caller: unknown backend "cluade"`)
	require.Contains(t, string(out), `did you mean "claude"?`)
}
