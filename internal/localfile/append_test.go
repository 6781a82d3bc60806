package localfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Concurrent appends do not mix, and no data is lost.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var writers sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		writers.Go(func() {
			for range 20 {
				if err := Append(path, []byte(strings.Repeat(letter, 4999)+"\n"), 1<<20); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	data, err := ReadOwn(path, 1<<20)
	require.NoError(t, err)
	lines := slices.Sorted(strings.Lines(string(data)))
	require.Len(t, lines, 80)
	for i, line := range lines {
		require.Equal(t, strings.Repeat("abcd"[i/20:i/20+1], 4999)+"\n", line)
	}
	require.NoError(t, Append(path, []byte("x"), 400_000))
	require.ErrorIs(t, Append(path, []byte("x"), 400_000), ErrTooBig)
	require.Error(t, Append(filepath.Join(path, "below a file"), nil, 1))
	require.Error(t, Append(t.TempDir(), nil, 1<<20), "a folder")
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
	old, young, folder := filepath.Join(dir, "old"), filepath.Join(dir, "young"), filepath.Join(dir, "folder")
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	require.NoError(t, os.WriteFile(young, nil, 0o600))
	require.NoError(t, os.Mkdir(folder, 0o700))
	for path, age := range map[string]time.Duration{old: 2 * time.Hour, young: 30 * time.Minute, folder: 2 * time.Hour} {
		require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		RemoveOld(path, now.Add(-time.Hour))
	}
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.DirExists(t, folder)
	RemoveOld(filepath.Join(dir, "none"), now)
}
