//go:build unix

package conversation_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conversation"
)

// A directory is the same below another path, and another one if another directory has its path.
func TestStoreResolvesLinks(t *testing.T) {
	s, _ := openStore(t)
	above := t.TempDir()
	dir, link := filepath.Join(above, "dir"), filepath.Join(above, "link")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Symlink(dir, link))
	a := newFake("a")
	agent := clichain.Request{Access: clichain.AccessRead}
	keep(t, s, link, a, agent).Unlock()

	e := lock(t, s, dir)
	_, err := e.Load(a.backend(), &conversation.Config{Request: agent})
	require.NoError(t, err)
	require.Equal(t, link, e.Dir(), "the path that the session of the CLI has")
	c, err := e.Load(a.backend(), &conversation.Config{Request: agent})
	require.NoError(t, err)
	send(t, c, "two", "a")
	require.Equal(t, link, a.requests[len(a.requests)-1].Dir)
	e.Unlock()

	moved := filepath.Join(above, "moved")
	require.NoError(t, os.Rename(dir, moved))
	_, err = lock(t, s, moved).Load(a.backend(), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = s.Read(link)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(moved, link))
	e = lock(t, s, dir)
	_, err = e.Load(a.backend(), &conversation.Config{Request: agent})
	require.NoError(t, err)
	require.Equal(t, dir, e.Dir(), "the link leads elsewhere now")
}

// A file that another user may have put in the place of an entry is not read. A new conversation replaces it.
func TestStoreRefusesForeignFiles(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, path string){
		"writable by the group": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o620)) },
		"file of another user": func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			require.NoError(t, os.Chown(path, 12345, -1))
		},
		"link": func(t *testing.T, path string) {
			elsewhere := filepath.Join(t.TempDir(), "record")
			require.NoError(t, os.Rename(path, elsewhere))
			require.NoError(t, os.Symlink(elsewhere, path))
		},
		"pipe": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := openStore(t)
			dir, a := t.TempDir(), newFake("a")
			e := keep(t, s, dir, a, clichain.Request{})
			put(t, e.Path())
			_, err := e.Load(a.backend(), nil)
			require.ErrorIs(t, err, conversation.ErrRecord)
			c := conversation.New(a.backend(), nil)
			send(t, c, "again", "a")
			require.NoError(t, e.Save(c))
			c, err = e.Load(a.backend(), nil)
			require.NoError(t, err)
			require.Equal(t, "again", c.Messages()[0].Content)
		})
	}
	s, files := openStore(t)
	require.NoError(t, os.Symlink(t.TempDir(), files))
	_, err := s.Lock(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "is a symbolic link")
}
