package consoletest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Block is the first code block of a language in a section of docs/operations.md.
func Block(t testing.TB, section, language string) string {
	t.Helper()
	name := filepath.Join("..", "..", "docs", "operations.md") // from the command; its packages are two levels below
	page, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		page, err = os.ReadFile(filepath.Join("..", "..", name))
	}
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "\n## "+section+"\n")
	require.True(t, ok)
	_, rest, ok = strings.Cut(rest, "\n```"+language+"\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(rest, "\n```")
	return text
}
