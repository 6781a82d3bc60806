package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A terminal breaks a line that is wider, so the cursor must move back over more rows.
func TestScreenOnNarrowTerminal(t *testing.T) {
	var out strings.Builder
	s := &Screen{Out: &out, Size: func() (int, int) { return 10, 24 }}
	content := func(int) string {
		return "\x1b[1mshort\x1b[0m\n" + "\x1b[2m" + strings.Repeat("x", 10) + "\x1b[0m\n" + strings.Repeat("x", 21) + "\n"
	}
	require.NoError(t, s.Draw(content))
	out.Reset()
	require.NoError(t, s.Draw(content))
	require.True(t, strings.HasPrefix(out.String(), "\x1b[5F\x1b[J"), "%q", out.String())
}
