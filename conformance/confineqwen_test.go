package conformance_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A confined program can open no pseudo-terminal. The shell of qwen works without one, in a trusted directory too. Only
// settings of the user or of a trusted directory permit the shell below AccessFull.
func TestConfinedQwenRunsShell(t *testing.T) {
	eachQwen(t, func(t *testing.T, of home.Install) {
		for label, trust := range map[string]bool{"untrusted": false, "trusted": true} {
			t.Run(label, func(t *testing.T) {
				longUnless(t, trust && of == home.Newest(t, home.Qwen))
				t.Parallel()
				cfg := clichain.Config{Timeout: 2 * minute, Confine: call.ConfineRequired, TrustDir: trust}
				script := loopback.InOrder(shell(home.Qwen, "echo x > made"), loopback.Text(hello))
				c := qwen(t, of, home.LoggedIn, cfg, script)
				c.home.Write(t, ".qwen/settings.json", `{"permissions": {"allow": ["Bash"]}, "tools": {"allowed": ["run_shell_command"]}}`)
				resp, err := c.Complete(t.Context(), c.askIn(clichain.AccessWrite, "go on"))
				require.NoError(t, err)
				require.Regexp(t, "^landlock", resp.Confined)
				require.FileExists(t, filepath.Join(c.home.Work, "made"), results(c))
			})
		}
	})
}
