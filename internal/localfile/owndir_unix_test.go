//go:build unix

package localfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// OwnDir refuses a directory that another user prepared, and does not change it.
func TestOwnDir(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, path, target string)
		refused string
	}{
		{"missing", func(*testing.T, string, string) {}, ""},
		{"open to others", func(t *testing.T, path, _ string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			require.NoError(t, os.Chmod(path, 0o777))
		}, ""},
		{"link", func(t *testing.T, path, target string) { require.NoError(t, os.Symlink(target, path)) }, "is a symbolic link"},
		{"dangling link", func(t *testing.T, path, target string) {
			require.NoError(t, os.Symlink(target+"/none", path))
		}, "is a symbolic link"},
		{"file", func(t *testing.T, path, _ string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}, "is not a directory"},
		{"directory of another user", func(t *testing.T, path, _ string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory to another user")
			}
			require.NoError(t, os.Mkdir(path, 0o755))
			require.NoError(t, os.Chown(path, 12345, 12345))
		}, "another user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, path := t.TempDir(), filepath.Join(t.TempDir(), "clichain")
			require.NoError(t, os.Chmod(target, 0o755))
			test.prepare(t, path, target)
			root, err := OwnDir(path)
			requireMode(t, target, 0o755)
			require.NoFileExists(t, filepath.Join(target, "none"))
			if test.refused != "" {
				require.ErrorContains(t, err, path)
				require.ErrorContains(t, err, test.refused)
				return
			}
			require.NoError(t, err)
			require.NoError(t, root.Close())
			requireMode(t, path, 0o700)
		})
	}
	_, err := OwnDir("relative")
	require.ErrorContains(t, err, "absolute")
}

// No directory of clichain follows another user's link in a state directory that others can write to.
func TestStateDirectoryRefusesLinks(t *testing.T) {
	target := t.TempDir()
	require.NoError(t, os.Chmod(target, 0o755))
	base := t.TempDir()
	t.Setenv("XDG_STATE_HOME", base)
	t.Setenv("XDG_CACHE_HOME", base)
	t.Setenv("TMPDIR", target) // other users can write to it, or can replace it
	require.NoError(t, os.Symlink(target, filepath.Join(base, "clichain")))
	if !protected(target) {
		_, err := StateDir()
		require.ErrorContains(t, err, "symbolic link")
	}
	require.NoError(t, os.Remove(filepath.Join(base, "clichain")))
	_, err := StateDir()
	require.NoError(t, err)
	for _, below := range []string{"empty", "empty/codex"} {
		link := filepath.Join(base, "clichain", below)
		require.NoError(t, os.Symlink(target, link))
		require.ErrorContains(t, KeepEmpty(filepath.Join(base, "clichain", "empty", "codex"), nil), "symbolic link")
		require.NoError(t, os.Remove(link))
		require.NoError(t, os.MkdirAll(filepath.Dir(link)+"/empty", 0o700))
	}
	requireMode(t, target, 0o755)
}

// A link of the user above a directory of clichain is followed.
func TestStateDirectoryBelowLink(t *testing.T) {
	target, base := t.TempDir(), filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Symlink(target, base))
	t.Setenv("XDG_STATE_HOME", base)
	dir, err := StateDir()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(base, "clichain"), dir)
	requireMode(t, filepath.Join(target, "clichain"), 0o700)
}

// No function creates a missing home, however the path leads below it.
func TestMissingHomeIsNotCreated(t *testing.T) {
	above := t.TempDir()
	home, link := filepath.Join(above, "none", "home"), filepath.Join(above, "link")
	require.NoError(t, os.Symlink(home, link))
	t.Setenv("HOME", home)
	for name, xdg := range map[string]string{
		"none": "", "in the home": filepath.Join(home, "xdg"), "by a link": filepath.Join(link, "xdg"),
		"with dots": filepath.Join(above, "none") + "/x/../home/xdg",
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"XDG_CACHE_HOME", "XDG_STATE_HOME"} {
				t.Setenv(variable, xdg)
			}
			for range 2 {
				_, err := CacheDir()
				require.ErrorContains(t, err, "does not exist")
				require.ErrorContains(t, err, "HOME="+home)
				_, err = Lock(t.Context(), filepath.Join(home, ".cache", "a", "lock"), time.Millisecond)
				require.ErrorContains(t, err, "does not exist")
				_, _ = StateDir() // may be in the temporary directory
				require.NoDirExists(t, filepath.Dir(home))
			}
		})
	}
}

// Missing directories are created below an existing home, and elsewhere.
func TestMissingDirectoriesAreCreated(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "a", "b"))
	for _, dirOf := range []func() (string, error){CacheDir, StateDir} {
		dir, err := dirOf()
		require.NoError(t, err)
		requireMode(t, dir, 0o700)
	}
}
