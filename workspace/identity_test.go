package workspace_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
)

// Each copy has its own identity for CLIs that would otherwise take it for the original.
func TestCopyHasOwnIdentity(t *testing.T) {
	dir := repository(t)
	for _, name := range specs.ProjectFiles() {
		script := `cat .git/` + name + ` >made; echo >>made` + "\n" + says(begin, writes, answers)
		resp, err := workspace.New(agent(t, "a", script, clichain.Config{}), nil).Complete(t.Context(), work(dir))
		require.NoError(t, err)
		require.Regexp(t, `\n\+[0-9a-f]{40}\n`, resp.Changes.Patch, name)
		require.False(t, strings.Contains(shell(t, dir, "ls .git"), name))
	}
}
