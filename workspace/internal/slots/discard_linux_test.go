package slots

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const immutable = 0x10 // FS_IMMUTABLE_FL

// An agent with the rights of root can make a file or directory that even root cannot remove or rename.
func TestOpenAfterImmutableFiles(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	for _, name := range []string{"a", ".", ".git/objects"} {
		s := m.open(Source{Share: true})
		file, err := os.Open(filepath.Join(s.Top, name))
		require.NoError(t, err)
		flags, err := unix.IoctlGetInt(int(file.Fd()), unix.FS_IOC_GETFLAGS)
		if err == nil {
			err = unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable)
		}
		if err != nil {
			t.Skip("this user or file system cannot make immutable files: ", err)
		}
		_ = s.Close()
		next := m.open(Source{Share: true})
		require.Equal(t, s.Top, next.Top)
		m.same(next)
		require.NoError(t, next.Close())
		require.NoError(t, unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flags))
		require.NoError(t, file.Close())
		require.NoError(t, Sweep(t.Context(), m.root))
		entries, err := os.ReadDir(m.root)
		require.NoError(t, err)
		require.Len(t, entries, 2, "the lock and the directory of one original")
	}
}
