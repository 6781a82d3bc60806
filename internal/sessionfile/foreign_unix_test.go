//go:build unix

package sessionfile

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/session"
)

// Load ignores files that other users may have put in the place of a record, and does not wait for them. The next call
// of the session stores a new record.
func TestForeignRecords(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, path string){
		"writable by the group": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o620)) },
		"writable by all":       func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o602)) },
		"another user's": func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			require.NoError(t, os.Chown(path, 12345, -1))
		},
		"a link": func(t *testing.T, path string) {
			elsewhere := filepath.Join(t.TempDir(), "record")
			require.NoError(t, os.Rename(path, elsewhere))
			require.NoError(t, os.Symlink(elsewhere, path))
		},
		"a pipe": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		},
		"huge file": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 2<<30)) },
		"link to a device": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink("/dev/zero", path))
		},
		"a folder": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ownState(t)
			require.NoError(t, Save(handle, session.Record{Dir: "/x"}))
			require.NotNil(t, Load(handle))
			put(t, at(t))
			require.Nil(t, Load(handle))
			if info, err := os.Lstat(at(t)); err == nil && !info.IsDir() {
				require.NoError(t, Save(handle, session.Record{Dir: "/y"}))
				require.Equal(t, "/y", Load(handle).Dir)
			}
		})
	}
}

// Other users can neither read nor create records.
func TestRecordsArePrivate(t *testing.T) {
	ownState(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	require.NoError(t, Save(handle, session.Record{Dir: "/x"}))
	folder := filepath.Dir(at(t))
	for path, want := range map[string]os.FileMode{
		at(t): 0o600, folder: 0o700, filepath.Dir(folder): 0o700,
	} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}
	require.NoError(t, os.Chmod(folder, 0o777))
	require.NotNil(t, Load(handle))
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "the directory is private again")
}

func TestSaveWithoutStateDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", file)
	require.Error(t, Save(handle, session.Record{}))
	require.Nil(t, Load(handle))
}

// A log that cannot be written, as on a full disk, must not count as a full log, because that would discard the
// previous log.
func TestLogWriteFailure(t *testing.T) {
	ownState(t)
	l, kept := log{at(t)}, "\n"+strings.Repeat("x", maxLog*3/4) // larger than any other file of this process
	require.NoError(t, os.WriteFile(l.before(), []byte("\nbefore"), 0o600))
	require.NoError(t, os.WriteFile(l.path, []byte(kept), 0o600))
	limitFiles(t, len(kept))
	require.ErrorIs(t, l.add([]byte("{}")), syscall.EFBIG)
	for path, want := range map[string]string{l.path: kept, l.before(): "\nbefore"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// limitFiles limits the size of files that this process writes, until the test ends.
func limitFiles(t *testing.T, size int) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		signal.Reset(syscall.SIGXFSZ)
	})
	limited := old
	set(&limited.Cur, size)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited))
}

// set sets a number whose type depends on the system.
func set[T int64 | uint64](to *T, n int) { *to = T(n) }
