package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// inReadOnlyHome mounts the home of a command read-only. File modes do not stop root.
func inReadOnlyHome(t *testing.T, h home.Home, command ...string) *exec.Cmd {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("the program unshare is not installed")
	}
	script := `mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" && exec "$@"`
	cmd := exec.CommandContext(t.Context(), unshare, append([]string{"--mount", "sh", "-c", script, "sh"}, command...)...)
	cmd.Dir, cmd.Env = "/", append(h.Env, "TMPDIR=/tmp", "PATH="+filepath.Dir(h.Binary)+":"+os.Getenv("PATH"))
	return cmd
}

// someSession has a session ID in the form of each CLI.
var someSession = map[string]string{
	home.Claude: "11111111-1111-4111-8111-111111111111", home.Codex: "11111111-1111-7111-8111-111111111111",
	home.Gemini: "11111111-1111-4111-8111-111111111111", home.OpenCode: "ses_1234567890abcdefABCDEFGHIJ",
}

// In a read-only home only claude answers, also without access. A call of another CLI fails and names the home.
// Without access no session continues, and no request is sent.
func TestCallInReadOnlyHome(t *testing.T) {
	program := command(t)
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		server := loopback.New(t, loopback.Always(loopback.Text(hello)))
		h := home.New(t, name, server.URL, home.LoggedIn)
		require.NoError(t, os.RemoveAll(filepath.Join(h.Dir, ".local", "state", "clichain")))
		ask := []string{program, "ask", "--timeout", "60s", "--only", name, "--pass-env", "LOOPBACK_*"}
		for _, args := range [][]string{{"say hi"}, {"--dir", t.TempDir(), "--access", "write", "say hi"}} {
			out, err := inReadOnlyHome(t, h, append(ask, args...)...).CombinedOutput()
			if name == home.Claude {
				require.NoError(t, err, "%s", out)
				require.Contains(t, string(out), hello)
				continue
			}
			require.Error(t, err)
			require.Contains(t, string(out), "HOME="+h.Dir+" is not writable")
		}
		asked := len(server.Requests())
		out, err := inReadOnlyHome(t, h, append(ask, "--session", name+":"+someSession[name], "say hi")...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "bad_session")
		require.Contains(t, string(out), "XDG_STATE_HOME")
		require.Len(t, server.Requests(), asked)
	})
}
