package tree

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/workspace/internal/git"
)

func newRepo(t *testing.T) git.Repo {
	t.Helper()
	r, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "git"), t.TempDir(), git.Options{})
	require.NoError(t, err)
	return r
}
