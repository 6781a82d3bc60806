package localfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a killed host left is removed when it is old enough, and nothing else.
func TestStaleFolders(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	now := time.Now()
	make := func(path string, age time.Duration) string {
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, "system.md"), nil, 0o600))
		require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		return path
	}
	stale, fresh := make(filepath.Join(dir, TempName()), 49*time.Hour), make(filepath.Join(dir, TempName()), time.Hour)
	others := make(filepath.Join(dir, "clichain-of-somebody-else"), 1000*time.Hour)
	target := make(filepath.Join(dir, "target"), 1000*time.Hour)
	link := filepath.Join(dir, TempName())
	require.NoError(t, os.Symlink(target, link))

	RemoveStale(dir, now)
	require.NoDirExists(t, stale)
	require.DirExists(t, fresh)
	require.DirExists(t, others)
	require.FileExists(t, filepath.Join(target, "system.md"), "links are not followed")
}
