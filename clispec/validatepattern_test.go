package clispec

import (
	"regexp"
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatchesEmpty(t *testing.T) {
	for _, pattern := range []string{
		``, `a`, `.`, `[a-z]`, `[^a]`, `.*`, `.+`, `a?`, `a*?`, `(a*)+`, `(a|b*)`, `a|b`, `a|`, `(?i)a`, `^`, `$`, `^$`, `^a$`, `\A\z`, `(?m)^$`,
		`\b`, `\B`, `\Ba*`, `\ba*`, `a{0,3}`, `a{2}`, `(a*){2}`, `(?P<status>)`, `(?P<status>\d+)`, `a*b*`, `a*b`, `(?s).`, `[^\x00-\x{10FFFF}]`,
	} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		require.Equal(t, regexp.MustCompile(pattern).MatchString(""), matchesEmpty(parsed), pattern)
	}
}

// Validate parses a pattern once for all rules that share it, and does not parse literal text.
func TestPatternsAreParsedOnce(t *testing.T) {
	v := &validator{patterns: map[string]error{}}
	for _, pattern := range []string{"word", "a (b|c)", "a (b|c)", "(", "("} {
		v.pattern("path", pattern)
	}
	require.Len(t, v.patterns, 2)
	require.Len(t, v.found.Errors, 2, "each place is named")
	v.pattern("path", "\xff")
	require.Len(t, v.found.Errors, 3, "no text")
	parse := func() { v.pattern("path", "a (b|c)") }
	require.Zero(t, testing.AllocsPerRun(10, parse))
}
