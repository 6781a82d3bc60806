package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
)

// withMounts runs the rest of a test in a process with its own mounts, or skips it.
func withMounts(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	const inside = "CLICHAIN_TEST_MOUNTS"
	if os.Getenv(inside) != "" {
		test(t)
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if _, started := err.(*exec.ExitError); err != nil && !started {
		t.Skipf("no separate mounts: %v", err)
	}
	require.NoError(t, err, "%s", out)
}

// unusableHomes are homes that accept no files, by how they are made.
var unusableHomes = []struct {
	name string
	make func(t *testing.T, home string) string // its new path
}{
	{"missing", func(t *testing.T, home string) string { return filepath.Join(home, "none") }},
	{"not set", func(*testing.T, string) string { return "" }},
	{"read-only", readOnly},
	{"read-only, after a call", func(t *testing.T, home string) string {
		require.NoError(t, os.MkdirAll(filepath.Join(home, ".local", "state", "clichain", "empty", "other"), 0o700))
		return readOnly(t, home)
	}},
	{"without inodes", func(t *testing.T, home string) string { return withoutInodes(t, home, "") }},
	{"without inodes for the guards", func(t *testing.T, home string) string {
		return withoutInodes(t, home, ".local/state/clichain/empty/wary")
	}},
}

// withoutInodes makes a home that contains a directory, and has no inode for anything more.
func withoutInodes(t *testing.T, home, folder string) string {
	require.NoError(t, syscall.Mount("none", home, "tmpfs", 0, "nr_inodes=32"))
	require.NoError(t, os.MkdirAll(filepath.Join(home, folder), 0o700))
	for i := 0; ; i++ {
		if err := os.WriteFile(filepath.Join(home, fmt.Sprint(i)), nil, 0o600); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			return home
		}
	}
}

func readOnly(t *testing.T, home string) string {
	require.NoError(t, syscall.Mount(home, home, "", syscall.MS_BIND, ""))
	require.NoError(t, syscall.Mount("", home, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	return home
}

// If the home accepts no files, a plain call works in a private directory below a directory of this user in the
// temporary directory. No session can be continued there.
func TestUnusableHome(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		for _, test := range unusableHomes {
			t.Run(test.name, func(t *testing.T) {
				temp, home := t.TempDir(), t.TempDir()
				t.Cleanup(func() { _ = syscall.Unmount(home, syscall.MNT_DETACH) }) // not all of them are mounts
				t.Setenv("TMPDIR", temp)
				t.Setenv("HOME", test.make(t, home))
				for _, name := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
					t.Setenv(name, "")
				}
				p, record := waryRun(t, clichain.Config{})
				for range 2 {
					resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
					require.NoError(t, err)
					require.Equal(t, "fine", resp.Text)
				}
				own := filepath.Join(temp, fmt.Sprintf("clichain-%d", os.Geteuid()))
				dir := filepath.Join(own, "empty", "wary")
				require.Equal(t, dir, ranIn(t, record))
				requireOnly(t, dir, ".wary")
				for _, path := range []string{own, dir} {
					info, err := os.Lstat(path)
					require.NoError(t, err)
					require.Equal(t, os.FileMode(0o700)|os.ModeDir, info.Mode())
				}

				require.NoError(t, os.Remove(record))
				req := clichain.Prompt("hi")
				req.Session = chaintest.HandleOf("wary", "s1")
				_, err := p.Complete(t.Context(), req)
				be := chaintest.RequireReason(t, clichain.ReasonBadSession, err)
				require.Contains(t, be.Hint, "XDG_STATE_HOME")
				require.NoFileExists(t, record)
			})
		}
	})
}

// A directory that another user may have prepared or could replace is not used.
func TestUnusableHomeAndTemporaryDirectory(t *testing.T) {
	name := fmt.Sprintf("clichain-%d", os.Geteuid())
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, temp string)
		says    string
	}{
		{"a link", func(t *testing.T, temp string) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(temp, name)))
		}, "symbolic link"},
		{"a file", func(t *testing.T, temp string) {
			require.NoError(t, os.WriteFile(filepath.Join(temp, name), nil, 0o600))
		}, "not a directory"},
		{"open to all", func(t *testing.T, temp string) { require.NoError(t, os.Chmod(temp, 0o777)) }, "replace"},
		{"missing", func(t *testing.T, temp string) { require.NoError(t, os.Remove(temp)) }, "no such file"},
		{"another user's", func(t *testing.T, temp string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory to another user")
			}
			require.NoError(t, os.Mkdir(filepath.Join(temp, name), 0o700))
			require.NoError(t, os.Chown(filepath.Join(temp, name), 12345, 12345))
		}, "another user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("HOME", filepath.Join(t.TempDir(), "none"))
			t.Setenv("XDG_STATE_HOME", "")
			p, record := waryRun(t, clichain.Config{})
			t.Setenv("TMPDIR", temp)
			test.prepare(t, temp)
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			be := chaintest.RequireReason(t, clichain.ReasonSpawn, err)
			require.Contains(t, be.Message, "HOME=", "why the home does not serve")
			require.Contains(t, be.Message, test.says)
			require.Contains(t, be.Hint, "XDG_STATE_HOME")
			require.NoFileExists(t, record)
		})
	}
}
