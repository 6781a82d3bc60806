// Package consoletest has helpers of the command's tests: golden files of tables, lines of a log, and a NATS server.
package consoletest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/stretchr/testify/require"
)

// Update makes the tests write their golden files.
var Update = flag.Bool("update", false, "write the golden files")

// Golden compares a table with the golden files for the widths 60, 80 and 120 below testdata. Every line must fit the
// width. The table with style must have the given escape codes and no others, and the table without style must have
// none.
func Golden(t *testing.T, folder string, table func(s console.Style, width int) string, codes ...string) {
	for _, width := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			got := table(console.Style{}, width)
			for line := range strings.Lines(got) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, line)
			}
			require.NotContains(t, got, "\x1b")
			SameFile(t, filepath.Join("testdata", folder, fmt.Sprintf("%d.txt", width)), got)
			painted := table(console.Style{On: true}, width)
			for _, code := range codes {
				require.Contains(t, painted, code)
				painted = strings.ReplaceAll(painted, code, "")
			}
			require.Equal(t, got, painted)
		})
	}
}

// SameFile compares a text with a golden file.
func SameFile(t *testing.T, golden, got string) {
	t.Helper()
	if *Update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
