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

// Block is the first code block of a language in a section of docs/how-to/operations.md or
// docs/reference/command.md.
func Block(t testing.TB, section, language string) string {
	t.Helper()
	var pages string
	for _, name := range []string{"how-to/operations.md", "reference/command.md"} {
		// The path from the command. Its packages are two levels below.
		name = filepath.Join("..", "..", "docs", filepath.FromSlash(name))
		page, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			page, err = os.ReadFile(filepath.Join("..", "..", name))
		}
		require.NoError(t, err)
		pages += string(page)
	}
	_, rest, ok := strings.Cut(pages, "\n## "+section+"\n")
	require.True(t, ok, section)
	_, rest, ok = strings.Cut(rest, "\n```"+language+"\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(rest, "\n```")
	return text
}
