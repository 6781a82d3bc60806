package localfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCreate: what is there already stays, be it a link that leads nowhere.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, Create(path, []byte("first")))
	require.ErrorIs(t, Create(path, []byte("second")), fs.ErrExist)
	data, err := ReadOwn(path, 100)
	require.NoError(t, err)
	require.Equal(t, "first", string(data))
	if os.Symlink(filepath.Join(dir, "elsewhere"), link) == nil {
		require.ErrorIs(t, Create(link, []byte("x")), fs.ErrExist)
		require.NoFileExists(t, filepath.Join(dir, "elsewhere"))
	}
}

func TestPut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var puts sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		puts.Go(func() {
			for range 20 {
				if err := Put(path, []byte(strings.Repeat(letter, 5000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	puts.Wait()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(string(data[:1]), 5000), string(data))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Error(t, Put(filepath.Join(path, "below a file"), nil))
}

func TestReadOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	_, err := ReadOwn(path, 4)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	data, err := ReadOwn(path, 4)
	require.NoError(t, err)
	require.Equal(t, "text", string(data))
	_, err = ReadOwn(path, 3)
	require.ErrorIs(t, err, ErrTooBig)
}

func TestRemoveOld(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	make := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		return path
	}
	old, young := make("old", 2*time.Hour), make("young", 30*time.Minute)
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Chtimes(folder, now, now.Add(-2*time.Hour)))
	RemoveOld(dir, now.Add(-time.Hour))
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.DirExists(t, folder)
	RemoveOld(filepath.Join(dir, "none"), now)
}
