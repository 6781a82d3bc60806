package proc

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoleOf(t *testing.T) {
	plain, shim := []string{"/usr/bin/program"}, []string{shimName}
	for _, test := range []struct {
		name  string
		args  []string
		owner credentials
		want  role
	}{
		{"a program", plain, credentials{7, 7, 8, 8}, roleHost},
		{"a program without arguments", nil, credentials{7, 7, 8, 8}, roleHost},
		{"a shim", shim, credentials{7, 7, 8, 8}, roleShim},
		{"the shim of root", shim, credentials{0, 0, 0, 0}, roleShim},
		{"a name with arguments", append(shim, "x"), credentials{7, 7, 8, 8}, roleHost},
		{"a set-uid program", plain, credentials{7, 0, 8, 8}, roleBystander},
		{"a set-gid program", plain, credentials{7, 7, 8, 0}, roleBystander},
		{"a set-uid shim", shim, credentials{7, 0, 8, 8}, roleRefused},
		{"a set-gid shim", shim, credentials{7, 7, 8, 0}, roleRefused},
		{"a set-uid and set-gid shim", shim, credentials{7, 0, 8, 0}, roleRefused},
		{"root that has become another user", shim, credentials{0, 7, 0, 8}, roleRefused},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, roleOf(test.args, test.owner)) })
	}
}

func TestCanShim(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	const children = "/proc/thread-self/children"
	require.True(t, canShim("/proc/self/exe", children))
	require.False(t, canShim(file, children), "the program cannot be started")
	require.False(t, canShim("/proc/self/exe", file+".none"), "the kernel lists no children")
}

// A copy of this program belongs to another user and runs as that user.
func TestSetUIDShimExits(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a file away")
	}
	self, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer self.Close()
	path := filepath.Join(t.TempDir(), "program")
	program, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	require.NoError(t, err)
	_, err = io.Copy(program, self)
	require.NoError(t, err)
	require.NoError(t, program.Close())
	require.NoError(t, os.Chown(path, otherUser, -1))
	require.NoError(t, os.Chmod(path, 0o755|os.ModeSetuid))
	var mount syscall.Statfs_t
	require.NoError(t, syscall.Statfs(path, &mount))
	if mount.Flags&syscall.MS_NOSUID != 0 {
		t.Skip("the temporary directory does not allow set-uid")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Cmd{Path: path, Args: []string{shimName}, Env: []string{}, Dir: "/", Stdout: &stdout, Stderr: &stderr}
	require.Error(t, cmd.Run())
	require.Equal(t, refusedStatus, cmd.ProcessState.ExitCode(), stderr.String())
	require.Equal(t, refusal, stderr.String())
	require.Empty(t, stdout.String())
}
