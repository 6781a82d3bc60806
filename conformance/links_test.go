package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A directory may contain links to paths outside it. With AccessWrite most CLIs do not write through such links.
// opencode and kilo, which derives from it, check only the name. The kernel denies the write to all CLIs.
func TestLinksOutOfDirectory(t *testing.T) {
	long(t)
	for name, test := range map[string]struct {
		tool, path string
		writes     bool
	}{
		home.Claude:   {"Write", "file_path", false},
		home.Gemini:   {"write_file", "file_path", false},
		home.OpenCode: {"write", "filePath", true},
		home.Pi:       {"write", "path", false},
		home.Kilo:     {"write", "filePath", true},
	} {
		for _, confine := range []call.Confinement{call.ConfineAuto, call.ConfineOff} {
			t.Run(name+" "+string(confine), func(t *testing.T) {
				t.Parallel()
				write := loopback.Tool(test.tool, map[string]any{test.path: "out/new.txt", "content": "x"})
				c := start(t, name, home.LoggedIn, confining(name, confine), loopback.InOrder(write, loopback.Text(hello)))
				elsewhere := filepath.Join(c.home.Dir, "elsewhere")
				require.NoError(t, os.Mkdir(elsewhere, 0o700))
				require.NoError(t, os.Symlink(elsewhere, filepath.Join(c.home.Work, "out")))
				resp, err := c.Complete(t.Context(), c.askIn(clichain.AccessWrite, "go on"))
				require.NoError(t, err)
				require.Len(t, c.server.Calls(), 2)
				writes := test.writes && strings.HasPrefix(resp.Confined, "no: ")
				require.Equal(t, writes, fileExists(filepath.Join(elsewhere, "new.txt")), results(c))
			})
		}
	}
}
