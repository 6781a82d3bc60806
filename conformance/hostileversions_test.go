package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// Files of an untrusted directory do not influence an earlier version of a CLI either, even if the CLI's own user
// trusts the directory. Without access, files in parent directories have no effect.
func TestHostileDirectoryWithEarlierVersions(t *testing.T) {
	long(t)
	files := map[string]map[string]string{
		home.Claude: claudeFiles, home.Codex: codexFiles, home.Gemini: geminiFiles, home.OpenCode: openCodeFiles,
	}
	eachVersion(t, func(t *testing.T, of home.Install, spec clichain.CliSpec) {
		if files[of.CLI] == nil || of == home.Newest(t, of.CLI) {
			t.Skip("other tests cover this version, or there are no hostile files for this CLI")
		}
		hostile := func(t *testing.T, state home.State) (cli, hostileDir) {
			c := startOf(t, of, spec, state, trusting(false), loopback.Always(loopback.Text(hello)))
			c.trustInCLI(t)
			return c, c.hostileDir(t, files[of.CLI])
		}
		for _, access := range []clichain.Access{clichain.AccessRead, clichain.AccessWrite} {
			t.Run(access.String(), func(t *testing.T) {
				c, f := hostile(t, home.LoggedIn)
				require.Empty(t, f.ask(t, c, access, c.home.Work))
			})
		}
		t.Run("parent directory", func(t *testing.T) {
			state := home.LoggedIn
			if of.CLI == home.Claude {
				state = home.Subscribed // with a key, claude reads no helper
			}
			c, f := hostile(t, state)
			require.Empty(t, f.below(t, c, "say hi"))
		})
	})
}
