package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/stretchr/testify/require"
)

// served is a running "clichain serve" process.
type served struct {
	t       *testing.T
	cmd     *exec.Cmd
	baseURL string
	token   string
	log     *bytes.Buffer
	out     *bufio.Reader
	client  *http.Client
}

// serving starts a server and waits until it accepts requests.
func (w *world) serving(args ...string) *served {
	w.t.Helper()
	return w.servingTo(nil, args...)
}

// servingTo starts a server with another writer for its log, or with that of the result.
func (w *world) servingTo(log io.Writer, args ...string) *served {
	w.t.Helper()
	s := &served{t: w.t, log: &bytes.Buffer{}, client: &http.Client{}}
	s.cmd = w.command(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	config := w.t.TempDir()
	s.cmd.Env = append(s.cmd.Env, "XDG_CONFIG_HOME="+config, "AppData="+config)
	if s.cmd.Stderr = log; log == nil {
		s.cmd.Stderr = s.log
	}
	out, err := s.cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, s.cmd.Start())
	limit := time.AfterFunc(consoletest.Patience, func() { _ = s.cmd.Process.Kill() })
	w.t.Cleanup(func() { limit.Stop(); _ = s.cmd.Process.Kill() })
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	require.NoError(w.t, err, "%s", s.log)
	s.baseURL = strings.TrimSpace(line)
	token, err := os.ReadFile(filepath.Join(config, "clichain", "serve-token"))
	require.NoError(w.t, err)
	s.token = strings.TrimSpace(string(token))
	return s
}

const served1 = `{"messages":[{"role":"user","content":"secret question"}]}`

// ask posts a request body. The headers are pairs of name and value.
func (s *served) ask(body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.baseURL+"/chat/completions", strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	return s.client.Do(r)
}

func (s *served) answers(body string) string {
	s.t.Helper()
	resp, err := s.ask(body)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, resp.StatusCode, "%s", data)
	return string(data)
}

// stop sends a signal, and returns the exit code and the log of the server.
func (s *served) stop(signal os.Signal) (status int, log string) {
	s.t.Helper()
	s.client.CloseIdleConnections()
	require.NoError(s.t, s.cmd.Process.Signal(signal))
	_, err := io.ReadAll(s.out)
	require.NoError(s.t, err)
	_ = s.cmd.Wait() // the caller checks the exit code
	return s.cmd.ProcessState.ExitCode(), s.log.String()
}

// warmFake installs a claude that stays running and answers each line with text. At the end of its input it answers
// with cold, which is the answer of a call to a new process.
func (w *world) warmFake(text, cold string) string {
	path, err := clitest.Install(w.bin, "claude", clitest.Scenario{Steps: append([]clitest.Step{
		{ReadLine: true},
		{Stdout: `{"type":"control_response","response":{"subtype":"success","request_id":"clichain-1","response":{}}}` + "\n"},
		{EachLine: answer("claude", text)},
	}, answer("claude", cold)...)})
	require.NoError(w.t, err)
	return path
}

// The server must answer from a warm process, print no secret, and terminate the process when it stops.
func TestServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.warmFake("secret answer", "secret cold answer")
	s := w.serving("--only", "claude")
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/v1$`, s.baseURL)
	require.Contains(t, s.answers(served1), `"content":"secret cold answer"`, "the process starts beside it")
	require.Eventually(t, func() bool { return strings.Contains(s.answers(served1), `"content":"secret answer"`) }, time.Minute, time.Millisecond)
	require.NotEmpty(t, clitest.Survivors(fake), "a process waits for the next request")
	resp, err := http.Get(s.baseURL + "/models")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 401, resp.StatusCode)
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
	require.Contains(t, log, "clichain: a new token is in ")
	require.Contains(t, log, "status=200")
	require.Contains(t, log, "backend=claude")
	require.Contains(t, log, "msg=stopped")
	require.NotContains(t, log, "secret")
	require.NotContains(t, log, s.token)
	require.Empty(t, clitest.Survivors(fake))
}

// A killed server leaves no process: neither the one that answers requests, nor its children.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tmp = t.TempDir() // a killed process cannot remove its temporary files
	fake := w.warmFake("warm", "cold")
	s := w.serving("--only", "claude")
	require.Eventually(t, func() bool { return strings.Contains(s.answers(served1), `"content":"warm"`) }, consoletest.Patience, time.Millisecond)
	require.NotEmpty(t, clitest.Survivors(fake), "a process waits for the next request")
	require.NoError(t, s.cmd.Process.Kill())
	require.Error(t, s.cmd.Wait())
	gone(t, fake)
}

// Only this user may access the socket. The server replaces the socket of a killed server, and removes its own socket
// when it stops.
func TestServeOnSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "fine")
	socket := filepath.Join(t.TempDir(), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	s := w.serving("--listen", "unix:"+socket, "--only", "claude", "--cold")
	require.Equal(t, "http://localhost/v1", s.baseURL)
	info, err := os.Stat(socket)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	require.Contains(t, s.answers(served1), "fine")
	out, err := w.command("serve", "--only", "claude", "--listen", "unix:"+socket, "--token-file", filepath.Join(t.TempDir(), "t")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "somebody listens there already")
	status, log := s.stop(os.Interrupt)
	require.Zero(t, status, log)
	require.NoFileExists(t, socket)
}

// The server must also use the next backend in a stream, if it has not sent any text yet.
func TestServeFallsBackInStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "loggedout", "")
	w.fake("codex", "answer", "fine")
	s := w.serving("--only", "claude,codex", "--cold")
	resp, err := s.ask(strings.Replace(served1, "{", `{"stream":true,`, 1))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "codex", resp.Header.Get("Clichain-Backend"))
	require.Equal(t, "claude=unauthenticated", resp.Header.Get("Clichain-Attempts"))
	require.Contains(t, string(data), `"content":"fine"`)
	require.True(t, strings.HasSuffix(string(data), "data: [DONE]\n\n"))
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
}
