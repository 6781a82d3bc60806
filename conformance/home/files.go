package home

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files are the files of an installed version that match the patterns, which begin in the folder that npm has put the
// packages into. It is a mistake of the test if there are none for its patterns.
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
