package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace"
)

func changed(names ...string) *call.Changes {
	c := &call.Changes{}
	for _, name := range names {
		c.Patch += "diff --git a/" + name + " b/" + name + "\n" +
			"index d00491fd7e5bb6fa28c517a0bb32b8b506539d4d..0cfbf08886fca9a91cb753ec8734c84fcbe52c9f 100644\n" +
			"--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-1\n+2\n"
		c.Files = append(c.Files, call.FileChange{Path: name, Kind: call.ChangeModified, Mode: "100644"})
	}
	return c
}

// Apply works without the program git and with a repository that would run a program.
func TestApply(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("1\n"), 0o600))
	}
	require.NoError(t, workspace.Apply(t.Context(), dir, changed("a", "b")))
	data, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, "2\n", string(data))

	require.ErrorContains(t, workspace.Apply(t.Context(), dir, nil), "no changes were given")

	err = workspace.Apply(t.Context(), dir, changed("c", "b", "a"))
	conflict := (*workspace.ConflictError)(nil)
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, []string{"a", "b"}, conflict.Files)
	require.EqualError(t, err, `workspace: the changes do not fit the directory: "a" has changed in the same places; `+
		`"b" has changed in the same places`)
	data, err = os.ReadFile(filepath.Join(dir, "c"))
	require.NoError(t, err)
	require.Equal(t, "1\n", string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	require.EqualError(t, &workspace.ConflictError{Files: []string{"x"}}, "workspace: the changes do not fit the directory: x")
}
