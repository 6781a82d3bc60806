package localfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// needsRemoval skips a test that removes directories while they are open. wine cannot do that.
func needsRemoval(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("wine removes no directory that is open")
	}
}

// RemoveStale removes only directories that a killed host left and that are old enough.
func TestRemoveStale(t *testing.T) {
	needsRemoval(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	now := time.Now()
	make := func(path string, age time.Duration) string {
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, "system.md"), nil, 0o600))
		require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		return path
	}
	stale, fresh := make(filepath.Join(dir, TempName()), 49*time.Hour), make(filepath.Join(dir, TempName()), time.Hour)
	others := make(filepath.Join(dir, "clichain-of-somebody-else"), 1000*time.Hour)
	target := make(filepath.Join(dir, "target"), 1000*time.Hour)
	link := filepath.Join(dir, TempName())
	require.NoError(t, os.Symlink(target, link))

	RemoveStale(dir, now)
	require.NoDirExists(t, stale)
	require.DirExists(t, fresh)
	require.DirExists(t, others)
	require.FileExists(t, filepath.Join(target, "system.md"), "links are not followed")
}

// Many stale directories do not delay a call: each call removes a part of them.
func TestRemoveStaleLimits(t *testing.T) {
	needsRemoval(t)
	now := time.Now()
	never := func() bool { return false }
	fill := func(t *testing.T, count int, name func() string, age time.Duration) string {
		dir := t.TempDir()
		for range count {
			path := filepath.Join(dir, name())
			require.NoError(t, os.Mkdir(path, 0o700))
			require.NoError(t, os.Chtimes(path, now, now.Add(-age)))
		}
		return dir
	}
	others := 0
	other := func() string { others++; return fmt.Sprintf("somebody-%d", others) }
	after := func(asked int) func() bool {
		return func() bool { asked--; return asked < 0 }
	}
	for _, test := range []struct {
		name  string
		count int
		names func() string
		age   time.Duration
		late  func() bool
		looks int // expected number
		left  int // remaining directories
	}{
		{"none", 0, TempName, 0, never, 0, 0},
		{"few", 3, TempName, 49 * time.Hour, never, 3, 0},
		{"many", 5000, TempName, 49 * time.Hour, never, staleLooks, 5000 - staleLooks},
		{"many in use", staleLooks + 100, TempName, time.Hour, never, staleLooks, staleLooks + 100},
		{"others", 300, other, 49 * time.Hour, never, 0, 300},
		{"late at once", 300, TempName, 49 * time.Hour, after(0), 0, 300},
		{"late after some", 300, TempName, 49 * time.Hour, after(11), 10, 290}, // the first check is before the batch of names
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := fill(t, test.count, test.names, test.age)
			require.Equal(t, test.looks, removeStale(dir, now, test.late))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, test.left)
		})
	}
}

// Later calls remove the remaining directories.
func TestRemoveStaleRemovesAllEventually(t *testing.T) {
	needsRemoval(t)
	dir, later := t.TempDir(), time.Now().Add(49*time.Hour)
	for range staleLooks + 100 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, TempName()), 0o700))
	}
	calls := 0
	for looks := 1; looks > 0 && calls < 10; calls++ {
		looks = removeStale(dir, later, func() bool { return false })
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.LessOrEqual(t, calls, 5, "some systems skip names while files are removed")
}

func TestRemoveStaleWithoutDirectory(t *testing.T) {
	require.Zero(t, removeStale(filepath.Join(t.TempDir(), "none"), time.Now(), func() bool { return false }))
}

func TestIsTempName(t *testing.T) {
	for range 10 {
		require.True(t, isTempName(TempName()))
	}
	random := strings.Repeat("A", tempLength)
	for _, name := range []string{
		"", tempPrefix, random, tempPrefix + random + "A", tempPrefix + random[1:], tempPrefix + random[1:] + "a",
		tempPrefix + random[2:] + "aA", tempPrefix + random[1:] + "1", "x" + tempPrefix + random,
	} {
		require.False(t, isTempName(name), "%q", name)
	}
}
