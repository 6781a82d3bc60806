package home

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files returns the files of an installed version that match the patterns, which are relative to the directory that
// npm put the packages into. The test fails if no file matches.
func (i Install) Files(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	if len(patterns) == 0 {
		return nil
	}
	for _, pattern := range patterns {
		matches, err := filepath.Glob(filepath.Join(i.modules(), pattern))
		require.NoError(t, err)
		files = append(files, matches...)
	}
	require.NotEmpty(t, files, "%s has no file like %q", i.CLI, patterns)
	return files
}
