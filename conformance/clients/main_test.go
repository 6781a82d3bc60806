package clients_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/netns"
)

func TestMain(m *testing.M) {
	play()
	os.Exit(netns.Main(m))
}

// endpoint is a "clichain serve" process with its own fake CLI.
type endpoint struct {
	cmd            *exec.Cmd
	log            *bufio.Reader
	baseURL, token string
	cli            string // the path of the fake, which its processes have as an argument
}

// build returns the path of the command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clichain")
	require.NoError(t, home.BuildCommand(path, os.Environ()))
	return path
}

func serve(t *testing.T, program string) *endpoint {
	t.Helper()
	dir := t.TempDir()
	spec, err := filepath.Abs(filepath.Join("testdata", "fake.json"))
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	e := &endpoint{cli: filepath.Join(dir, "fake")}
	require.NoError(t, os.Symlink(self, e.cli))
	token := filepath.Join(dir, "token")
	e.cmd = exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--token-file", token, "--config", "off",
		"--spec", spec, "--only", "fake", "--binary", "fake="+e.cli, "--confine", "off", "--no-cooldown", "--timeout", "300s",
		"--model-alias", "gpt-5=fake/large")
	e.cmd.Dir = dir
	e.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := e.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, e.cmd.Start())
	e.log = bufio.NewReader(stderr)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	text, err := os.ReadFile(token)
	require.NoError(t, err)
	e.baseURL, e.token = strings.TrimSpace(line), strings.TrimSpace(string(text))
	return e
}

// expectLeft waits until the server has ended the call of a client that left, and checks that no process remains.
func (e *endpoint) expectLeft(t *testing.T) {
	t.Helper()
	for {
		line, err := e.log.ReadString('\n')
		require.NoError(t, err)
		if strings.Contains(line, "the client left") {
			break
		}
	}
	require.Empty(t, clitest.Survivors(e.cli))
}

// stop terminates the server, which must exit without an error.
func (e *endpoint) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, e.cmd.Process.Signal(syscall.SIGTERM))
	log, err := io.ReadAll(e.log)
	require.NoError(t, err)
	require.NoError(t, e.cmd.Wait(), "%s", log)
	require.NotContains(t, string(log), e.token)
	require.Empty(t, clitest.Survivors(e.cli))
}
