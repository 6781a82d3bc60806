//go:build unix

package localfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateDir(t *testing.T) {
	home, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	atHome := filepath.Join(home, ".local", "state", "clichain")
	for _, test := range []struct{ name, state, home, want string }{
		{"set", state, home, filepath.Join(state, "clichain")},
		{"not set", "", home, atHome},
		{"relative", "state", home, atHome},
		{"no home", "", "", ""},
		{"relative home", "", "home", ""},
		{"missing home", "", filepath.Join(home, "none"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", test.state)
			t.Setenv("HOME", test.home)
			t.Chdir(t.TempDir())
			path, errPath := statePath()
			dir, err := StateDir()
			require.Equal(t, dir, path)
			require.Equal(t, err, errPath)
			if test.want == "" {
				require.Error(t, err)
				require.NoDirExists(t, filepath.Join(home, "none"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, dir)
			requireMode(t, dir, 0o700)
		})
	}
}

func TestStatePathCreatesNothing(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "a", "b"))
	path, err := statePath()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(base, "a", "b", "clichain"), path)
	left, err := os.ReadDir(base)
	require.NoError(t, err)
	require.Empty(t, left)
}

// If the home is not writable, StateDir uses the temporary directory, unless other users may write to it or to
// a directory above it.
func TestStateDirWithoutWritableHome(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/dev/null/state")
	base, err := os.MkdirTemp("/var/lib", "clichain-test-")
	if err != nil {
		t.Skipf("no directory that only this user may write to: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	temp := filepath.Join(base, "tmp")
	require.NoError(t, os.Mkdir(temp, 0o755))
	for _, test := range []struct {
		name string
		mode os.FileMode // of the directory above
		ok   bool
	}{{"own", 0o755, true}, {"open to all", 0o777, false}, {"open to all, sticky", 0o777 | os.ModeSticky, false}} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, os.Chmod(base, test.mode))
			t.Setenv("TMPDIR", temp)
			path, _ := statePath()
			dir, err := StateDir()
			require.Equal(t, dir, path)
			if !test.ok {
				require.ErrorContains(t, err, "/dev/null")
				return
			}
			require.NoError(t, err)
			require.Equal(t, filepath.Join(temp, "clichain-state"), dir)
			requireMode(t, dir, 0o700)
		})
	}
}

func requireMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode().Perm())
}

// ReadOwn refuses a file that another user may have written.
func TestReadOwnRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := ReadOwn(path, 0)
	require.NoError(t, err)
	link, pipe := path+".link", path+".pipe"
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, other := range []string{link, pipe, filepath.Dir(path)} {
		_, err = ReadOwn(other, 0)
		require.Error(t, err, other)
	}
	for _, mode := range []os.FileMode{0o602, 0o620} {
		require.NoError(t, os.Chmod(path, mode))
		_, err = ReadOwn(path, 0)
		require.ErrorContains(t, err, "others may write")
	}
	require.NoError(t, os.Chmod(path, 0o644))
	_, err = ReadOwn(path, 0)
	require.NoError(t, err, "others may read it")
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(path, 12345, -1))
		_, err = ReadOwn(path, 0)
		require.ErrorContains(t, err, "another user")
	}
}
