package billing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// A call without access turns off the MCP servers of the user. Agents need them.
func TestOwnServersAreOffWithoutAccess(t *testing.T) {
	for _, test := range []struct {
		spec       clispec.Spec
		path, text string
		off        string
	}{
		{specs.Codex(), ".codex/config.toml", "[mcp_servers.mine]\ncommand = \"x\"\n", "mcp_servers.mine.enabled=false"},
		{specs.OpenCode(), ".config/opencode/opencode.json", `{"mcp":{"mine":{"type":"local","command":["x"]}}}`, `"mcp":{"mine":{"enabled":false},`},
	} {
		t.Run(test.spec.Name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			path := filepath.Join(home, filepath.FromSlash(test.path))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			record := filepath.Join(t.TempDir(), "record.json")
			p := chaintest.Provider(t, test.spec, clichain.Config{}, chaintest.Play(clitest.Step{Record: record}))
			input := func(access clichain.Access, replace bool) string {
				req := clichain.Prompt("hi")
				if req.Access = access; access > clichain.AccessNone {
					req.Dir = t.TempDir()
				}
				if replace {
					req.Messages = append(req.Messages, chaintest.System("Be brief."))
				}
				_, err := p.Complete(t.Context(), req)
				require.ErrorIs(t, err, clichain.ErrBadOutput)
				got, err := clitest.ReadRecord(record)
				require.NoError(t, err)
				return strings.Join(append(got.Args, got.Env...), "\n")
			}
			require.Contains(t, input(clichain.AccessNone, false), test.off)
			require.Contains(t, input(clichain.AccessNone, true), test.off)
			require.NotContains(t, input(clichain.AccessWrite, false), test.off)
		})
	}
}
