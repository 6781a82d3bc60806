package conformance_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// An added directory is untrusted if the working directory is.
func TestAddedDirectories(t *testing.T) {
	for name, test := range map[string]struct {
		access clichain.Access
		files  map[string]string
	}{
		home.Claude:  {clichain.AccessRead, claudeFiles},
		home.Codex:   {clichain.AccessWrite, codexFiles},
		home.Gemini:  {clichain.AccessRead, geminiFiles}, // TestUntrustedAddedFolder covers the refused files
		home.Copilot: {clichain.AccessWrite, copilotFiles},
		home.Kimi:    {clichain.AccessRead, kimiFiles},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, flagsOnly, loopback.Always(loopback.Text(hello)))
			f := newHostileDir(t, loopback.Always(loopback.Text(hello)))
			added := filepath.Join(c.home.Dir, "added")
			repository(t, added)
			f.plant(t, added, gitFiles)
			f.plant(t, added, test.files)
			req := c.askIn(test.access, "say hi")
			req.Options.AddDirs = []string{added}
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Empty(t, f.seen(t, c.server))
		})
	}
}
