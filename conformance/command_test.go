package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// buildCommand returns the path of the clichain command. It builds the command at the first call.
var buildCommand func() (string, error)

// command returns the path of the clichain command. It skips the test if no CLI is installed.
func command(t *testing.T) string {
	t.Helper()
	home.RequireAny(t)
	path, err := buildCommand()
	require.NoError(t, err)
	return path
}

// commandIn returns the command with the environment of a real CLI's home.
func commandIn(t *testing.T, program string, h home.Home, args ...string) (stdout, stderr *bytes.Buffer, cmd *exec.Cmd) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = h.Work, append(h.Env, "PATH="+filepath.Dir(h.Binary)+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return stdout, stderr, cmd
}

func TestAskOnly(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			server := loopback.New(t, loopback.Always(loopback.Text(hello)))
			stdout, stderr, cmd := commandIn(t, program, home.New(t, name, server.URL, home.LoggedIn),
				"ask", "--only", name, "--json", "--timeout", "60s", "--pass-env", "LOOPBACK_*", "say hi")
			require.NoError(t, cmd.Run(), "%s%s", stdout, stderr)
			var resp clichain.Response
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &resp))
			require.Equal(t, hello, resp.Text)
			require.Equal(t, name, resp.Backend)
		})
	}
}

// SIGINT while a real CLI waits for its model terminates the CLI. The command exits with 130.
func TestInterrupt(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			server := loopback.New(t, loopback.Always(loopback.Hang()))
			h := home.New(t, name, server.URL, home.LoggedIn)
			stdout, stderr, cmd := commandIn(t, program, h, "ask", "--only", name, "--timeout", "60s", "--pass-env", "LOOPBACK_*", "say hi")
			require.NoError(t, cmd.Start())
			select {
			case <-server.Arrived():
			case <-time.After(minute):
				t.Fatalf("%s never called its model", name)
			}
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			err := cmd.Wait()
			var exit *exec.ExitError
			require.True(t, errors.As(err, &exit), "%v %s%s", err, stdout, stderr)
			require.Equal(t, 130, exit.ExitCode(), "%s%s", stdout, stderr)
			require.Empty(t, living(t, h), "processes of this home")
		})
	}
}
