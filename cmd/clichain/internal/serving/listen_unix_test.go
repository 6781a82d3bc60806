//go:build unix

package serving

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A user who could write to the directory could create the socket while serve does not run, and receive the tokens
// and prompts of clients.
func TestListenChecksSocketDirectory(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  os.FileMode
		owner int
		want  string
	}{
		{"private directory", 0o700, 0, ""},
		{"readable by all", 0o755, 0, ""},
		{"writable by all", 0o777, 0, "others may write to "},
		{"writable by all with sticky bit", 0o777 | fs.ModeSticky, 0, "others may write to "},
		{"writable by the group", 0o770, 0, "others may write to "},
		{"owned by another user", 0o700, 12345, "uid 12345"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.owner != 0 && os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			dir := filepath.Join(t.TempDir(), "dir")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chmod(dir, test.mode))
			if test.owner != 0 {
				require.NoError(t, os.Chown(dir, test.owner, test.owner))
			}
			socket := filepath.Join(dir, "s")
			listener, err := address{"unix", socket}.open(t.Context())
			if test.want == "" {
				require.NoError(t, err)
				require.NoError(t, listener.Close())
				return
			}
			require.ErrorContains(t, err, "--listen: ")
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, dir)
			require.NoFileExists(t, socket)
		})
	}
}

// serve may only replace a socket that this user owns.
func TestListenKeepsSocketsOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a socket away")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	socket := filepath.Join(dir, "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.NoError(t, os.Lchown(socket, 12345, 12345))
	_, err = address{"unix", socket}.open(t.Context())
	require.ErrorContains(t, err, "uid 12345")
	_, err = os.Lstat(socket)
	require.NoError(t, err)
	require.NoError(t, os.Remove(socket))
	require.NoError(t, os.Symlink(filepath.Join(dir, "target"), socket))
	_, err = address{"unix", socket}.open(t.Context())
	require.ErrorContains(t, err, "is no socket")
}
