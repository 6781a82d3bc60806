package conformance_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A call without access starts no MCP server of the user, which would inherit the secrets of the CLI. A call with write
// access does, which shows that the server of this test is configured.
func TestOwnServersStayOff(t *testing.T) {
	for _, name := range []string{home.Codex, home.OpenCode, home.Kilo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := flagsOnly // a confined server could not write its file
			c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
			own := filepath.Join(t.TempDir(), "environment")
			ownServer(t, c, own)
			resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.NoFileExists(t, own)
			req := clichain.Prompt("say hi")
			req.Access, req.Dir = clichain.AccessWrite, c.home.Work
			_, err = c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.FileExists(t, own)
		})
	}
}
