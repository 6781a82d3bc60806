package tokenfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/cmd/clichain/internal/tokenfile"
)

// TestToken checks that concurrent readers create a single token, which only this user can read.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "not", "there", "token")
	tokens := make([]string, 8)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			var err error
			tokens[i], _, err = tokenfile.Read(path)
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, token := range tokens {
		require.Equal(t, tokens[0], token)
	}
	require.GreaterOrEqual(t, len(tokens[0]), 40)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left")
	_, made, err := tokenfile.Read(path)
	require.NoError(t, err)
	require.False(t, made)
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm())
}

func TestTokenRejected(t *testing.T) {
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"readable by others", "0123456789abcdef", 0o644, "may be read by others (mode 0644): run chmod 600"},
		{"readable by the group", "0123456789abcdef", 0o640, "may be read by others (mode 0640)"},
		{"writable by others", "0123456789abcdef", 0o602, "may be read by others (mode 0602)"},
		{"empty", "", 0o600, "holds no token"},
		{"short", "0123456789", 0o600, "holds no token"},
		{"two lines", "0123456789abcdef\n0123456789abcdef", 0o600, "holds no token"},
		{"non-ASCII characters", "0123456789abcdeé", 0o600, "holds no token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.mode != 0o600 && runtime.GOOS == "windows" {
				t.Skip("no such rights here")
			}
			path := filepath.Join(t.TempDir(), "token")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			require.NoError(t, os.Chmod(path, test.mode))
			_, _, err := tokenfile.Read(path)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, test.want)
			if test.text != "" {
				require.NotContains(t, err.Error(), test.text)
			}
		})
	}
	_, _, err := tokenfile.Read(t.TempDir())
	require.ErrorContains(t, err, "no regular file")
}

// TestTokenOfAnotherUser checks that even root rejects a token that another user owns or could replace.
func TestTokenOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	const other = 12345
	for name, test := range map[string]struct {
		change func(t *testing.T, dir, path string)
		want   []string
	}{
		"file": {func(t *testing.T, _, path string) { require.NoError(t, os.Chown(path, other, other)) },
			[]string{"uid 12345", "uid 0", "remove the file"}},
		"directory": {func(t *testing.T, dir, _ string) { require.NoError(t, os.Chown(dir, other, other)) },
			[]string{"belongs to another user"}},
		"link": {func(t *testing.T, _, path string) {
			require.NoError(t, os.Rename(path, path+".real"))
			require.NoError(t, os.Symlink(path+".real", path))
			require.NoError(t, os.Lchown(path, other, other))
		}, []string{"belongs to another user"}},
		"directory writable by all": {func(t *testing.T, dir, _ string) { require.NoError(t, os.Chmod(dir, 0o777)) },
			[]string{"others may write", "chmod go-w"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			require.NoError(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, "token")
			_, made, err := tokenfile.Read(path)
			require.NoError(t, err)
			require.True(t, made)
			test.change(t, dir, path)
			token, _, err := tokenfile.Read(path)
			require.Empty(t, token)
			for _, text := range append(test.want, dir) {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "settings")
		})
	}
}

// TestTokenCreatesNoHome checks that a missing home directory is not created.
func TestTokenCreatesNoHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("HOME", home)
	for range 2 {
		_, _, err := tokenfile.Read(filepath.Join(home, ".config", "clichain", "serve-token"))
		require.ErrorContains(t, err, "HOME="+home+" does not exist")
		require.NoDirExists(t, home)
	}
}
