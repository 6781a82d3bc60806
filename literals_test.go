package clichain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func TestLiterals(t *testing.T) {
	for pattern, want := range map[string][]string{
		`Not Logged In`:              {"not logged in"},
		`(?i)Too Many requests|Slow`: {"too many requests", "slow"},
		`(?:a|bc)`:                   nil,
		`x*`:                         nil,
		`\d+ (?P<x>exactly) \w+`:     {"exactly"},
		`(?:abc)+`:                   {"abc"},
		`(?:abc)?`:                   nil,
		`[`:                          nil,
	} {
		require.Equal(t, want, clichain.Literals(pattern), pattern)
	}
}

// What the short cut rules out, the expression must rule out too.
func FuzzLiterals(f *testing.F) {
	for _, text := range []string{"429 Too Many Requests", "You've hit your limit · resets 2pm", "Kelvin \u212a, \u017f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, rule := range clichain.CommonLines() {
			if !rule.MayMatch(strings.ToLower(text)) && rule.Matches(text) && isASCII(text) {
				t.Fatalf("%s matches %q", rule.Pattern, text)
			}
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}
