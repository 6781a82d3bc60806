package grammar

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatches(t *testing.T) {
	names := []string{"", "A", "B", "AB", "ABC", "A_KEY", "A/B", "A*", "*", `A\`, "[A]"}
	patterns := append(names, "A*", "*B", "A*C", "A?", "?", "[AB]", "[^A]B", `\A`, `A\*`, "A[", `A\`)
	for _, pattern := range patterns {
		for _, name := range names {
			want, err := path.Match(pattern, name)
			require.Equal(t, want && err == nil, Matches([]string{pattern}, name), "%q, %q", pattern, name)
		}
	}
	require.True(t, Matches([]string{"B", "A*"}, "AB"))
	require.False(t, Matches(nil, "A"))
}
