//go:build unix

package slots

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestOpenLeavesOutSpecialFiles(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	require.NoError(t, unix.Mkfifo(m.at("pipe"), 0o600))
	listener, err := net.Listen("unix", m.at("s"))
	if err == nil {
		defer listener.Close()
	}
	s := m.open(Source{})
	require.Equal(t, []string{"a"}, names(t, s.Top))
	require.NoError(t, s.Close())
	m.commit()
	require.NoError(t, os.Remove(m.at("a")))
	require.NoError(t, unix.Mkfifo(m.at("a"), 0o600))
	s = m.open(Source{})
	require.Equal(t, []string{".git"}, names(t, s.Top))
	require.NoError(t, s.Close())
}

func TestOpenWarnsOfUnreadableFiles(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read all files")
	}
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("b", "two\n")
	m.write("closed/c", "three\n")
	require.NoError(t, os.Chmod(m.at("b"), 0))
	require.NoError(t, os.Chmod(m.at("closed"), 0))
	s := m.open(Source{})
	require.Equal(t, []string{"a", "closed"}, names(t, s.Top))
	require.Len(t, s.Warnings, 2)
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(m.at("closed"), 0o700))
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, filepath.Base(entry.Name()))
	}
	return names
}
