package localfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// sharedDir creates a directory with all permissions for all users.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o777))
	security, err := windows.SecurityDescriptorFromString("D:(A;OICI;FA;;;WD)")
	require.NoError(t, err)
	list, _, err := security.DACL()
	require.NoError(t, err)
	require.NoError(t, windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, list, nil))
	require.NotZero(t, permissions(t, dir)&windows.FILE_WRITE_DATA)
	return dir
}

// permissions returns the permissions of other users for a directory, according to the system.
func permissions(t *testing.T, dir string) windows.ACCESS_MASK {
	t.Helper()
	security, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	require.NoError(t, err)
	others, err := permissionsOfOthers(security)
	require.NoError(t, err)
	return others
}

// New directories are private, also those below a directory that all users may change.
func TestNewDirectoriesArePrivate(t *testing.T) {
	for name, makes := range map[string]func(dir string) error{
		"MakeDir":    MakeDir,
		"MakeOwnDir": MakeOwnDir,
		"NewDir": func(dir string) error {
			root, err := NewDir(dir)
			if err == nil {
				err = root.Close()
			}
			return err
		},
		"directory above": func(dir string) error { return MakeDir(filepath.Join(dir, "a", "b")) },
		"TryLock": func(dir string) error {
			unlock, _, err := TryLock(filepath.Join(dir, "lock"))
			if err == nil {
				unlock()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(sharedDir(t), "new")
			require.NoError(t, makes(dir))
			require.Zero(t, permissions(t, dir))
		})
	}
}

// MakeOwnDir removes the permissions of others from an existing directory. wine adds those of the
// directory above, which all users may read.
func TestExistingDirectoryBecomesPrivate(t *testing.T) {
	dir := sharedDir(t)
	require.NoError(t, MakeOwnDir(dir))
	require.Zero(t, permissions(t, dir)&(windows.FILE_WRITE_DATA|windows.FILE_APPEND_DATA|windows.DELETE|windows.WRITE_DAC))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
}

// A list of permissions for others, and a missing list, are not private.
func TestPermissionsOfOthers(t *testing.T) {
	for list, want := range map[string]windows.ACCESS_MASK{
		"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)": 0,
		"D:P(A;OICI;FA;;;SY)(A;;GR;;;BU)":     windows.GENERIC_READ,
		"D:(A;;GW;;;WD)(A;;GR;;;BU)":          windows.GENERIC_READ | windows.GENERIC_WRITE,
	} {
		security, err := windows.SecurityDescriptorFromString(list)
		require.NoError(t, err)
		others, err := permissionsOfOthers(security)
		require.NoError(t, err)
		require.Equal(t, want, others, list)
	}
	for _, list := range []string{"O:SY", "D:(D;;GW;;;WD)"} {
		security, err := windows.SecurityDescriptorFromString(list)
		require.NoError(t, err)
		_, err = permissionsOfOthers(security)
		require.Error(t, err, list)
	}
}
