package privatedir

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// ofAllUsers returns the permissions of all users for a directory, according to the system.
func ofAllUsers(t *testing.T, dir string) (mask windows.ACCESS_MASK) {
	t.Helper()
	security, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	require.NoError(t, err)
	list, _, err := security.DACL()
	require.NoError(t, err)
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		require.NoError(t, windows.GetAce(list, i, &entry))
		if (*windows.SID)(unsafe.Pointer(&entry.SidStart)).IsWellKnown(windows.WinWorldSid) {
			mask |= entry.Mask
		}
	}
	return mask
}

// Make removes the permissions of all users. wine adds those of the directory above, which all users may read.
func TestMakeClosesDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.Mkdir(dir, 0o777))
	security, err := windows.SecurityDescriptorFromString("D:(A;OICI;FA;;;WD)")
	require.NoError(t, err)
	list, _, err := security.DACL()
	require.NoError(t, err)
	const what = windows.DACL_SECURITY_INFORMATION
	require.NoError(t, windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, what, nil, nil, list, nil))
	require.NotZero(t, ofAllUsers(t, dir)&windows.FILE_WRITE_DATA)
	require.NoError(t, Make(dir))
	require.Zero(t, ofAllUsers(t, dir)&windows.FILE_WRITE_DATA)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
}
