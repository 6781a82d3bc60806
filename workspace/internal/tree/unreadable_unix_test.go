//go:build unix

package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func skipRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("the superuser can read and write everything")
	}
}

// A file that cannot be read is an error, never a deletion. In an ignored directory it does not matter.
func TestSnapshotOfUnreadableFiles(t *testing.T) {
	skipRoot(t)
	r := newRepo(t)
	world{"dir/file": text("x"), ".gitignore": {data: "ignored\n"}, "ignored/file": text("x")}.write(t, r.Files)
	dir, file := filepath.Join(r.Files, "dir"), filepath.Join(r.Files, "dir", "file")
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	require.NoError(t, os.Chmod(filepath.Join(r.Files, "ignored", "file"), 0))
	first, err := Snapshot(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("changed\n"), 0o644))
	require.NoError(t, os.Chmod(file, 0))
	_, err = Snapshot(t.Context(), r)
	require.ErrorContains(t, err, "dir/file")
	require.NoError(t, os.Chmod(dir, 0))
	_, err = Snapshot(t.Context(), r)
	require.ErrorContains(t, err, "dir/")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.WriteFile(file, []byte("x\n"), 0o644))
	// A special file in a directory that is not writable is moved out of it and back.
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	require.NoError(t, os.Chmod(dir, 0o500))
	again, err := Snapshot(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, first, again)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o500), info.Mode().Perm())
	require.FileExists(t, file)
}

func TestApplyInReadOnlyDirectory(t *testing.T) {
	skipRoot(t)
	base := world{"a": text("1"), "d/b": text("1"), "d/z": text("1")}
	c := changesOf(t, base, world{"a": text("2"), "d/b": text("2"), "n/z": text("1")})
	dir := t.TempDir()
	base.write(t, dir)
	require.NoError(t, os.Chmod(filepath.Join(dir, "d"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "d"), 0o700) })
	before := state(t, dir)
	require.ErrorContains(t, Apply(t.Context(), dir, c), "permission denied")
	require.Equal(t, before, state(t, dir))
}
