package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"a\n.b":    "a\n\\&.b",
		".b":       `\&.b`,
		"'b":       `\(aqb`,
		`C:\a --b`: `C:\ea \-\-b`,
		"a.b":      "a.b",
	} {
		require.Equal(t, want, roff(text))
	}
	require.Equal(t, "a\nb\n.PP\n.nf\n  c\nd\n.fi", roffParagraphs("a\nb\n\n  c\nd"))
}
