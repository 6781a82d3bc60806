package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// requireTable holds a table against the golden files of a folder: it fits, whatever the width, has no escapes without a
// style, and with one has these and no others.
func requireTable(t *testing.T, folder string, table func(s style, width int) string, codes ...string) {
	for _, width := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			got := table(style{}, width)
			for line := range strings.Lines(got) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, line)
			}
			require.NotContains(t, got, "\x1b")
			golden := filepath.Join("testdata", folder, fmt.Sprintf("%d.txt", width))
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			painted := table(style{true}, width)
			for _, code := range codes {
				require.Contains(t, painted, code)
				painted = strings.ReplaceAll(painted, code, "")
			}
			require.Equal(t, got, painted)
		})
	}
}
