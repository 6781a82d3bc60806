package compose

import (
	"flag"
	"os"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

var update = flag.Bool("update", false, "rewrite golden files")

const anID = "0199abcd-0000-7000-8000-000000000001"

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

func requireReason(t *testing.T, want call.Reason, err *call.Error) *call.Error {
	t.Helper()
	require.NotNil(t, err)
	require.Equal(t, want, err.Reason, "%v", err)
	return err
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
