//go:build unix

package disk

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Close ends the lock although a process that is being started still has the descriptor.
func TestCloseUnlocksInheritedFile(t *testing.T) {
	dir := t.TempDir()
	out, err := OpenOutput(filepath.Join(dir, "out.jsonl"), nil, parse)
	require.NoError(t, err)
	inherited, err := syscall.Dup(int(out.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(inherited) })
	require.NoError(t, out.Close())
	out, err = OpenOutput(filepath.Join(dir, "out.jsonl"), nil, parse)
	require.NoError(t, err)
	require.NoError(t, out.Close())

	bad := filepath.Join(dir, "bad.jsonl")
	lines, err := OpenBadLines(bad, false)
	require.NoError(t, err)
	inherited, err = syscall.Dup(int(lines.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(inherited) })
	require.NoError(t, lines.Close(true))
	lines, err = OpenBadLines(bad, false)
	require.NoError(t, err)
	require.NoError(t, lines.Close(true))
}
