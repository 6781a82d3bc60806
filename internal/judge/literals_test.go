package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/plaintext"
)

// Literals returns the texts that are searched for before a pattern is matched.
func Literals(pattern string) []string { return plaintext.Literals(pattern) }

// LineMatcher is one of the common rules of all specs.
type LineMatcher struct{ compiledLine }

// CommonLines returns the common rules of all specs.
func CommonLines() (rules []LineMatcher) {
	for _, line := range commonLines() {
		rules = append(rules, LineMatcher{line})
	}
	return rules
}

func (m LineMatcher) MayMatch(lower string) bool { return m.mayMatch(lower) }

func (m LineMatcher) Matches(text string) bool { return m.re.MatchString(text) }

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
		require.Equal(t, want, Literals(pattern), pattern)
	}
}

// If the literals exclude a match, the pattern must not match.
func FuzzLiterals(f *testing.F) {
	for _, text := range []string{"429 Too Many Requests", "You've hit your limit · resets 2pm", "Kelvin \u212a, \u017f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, rule := range CommonLines() {
			if !rule.MayMatch(strings.ToLower(text)) && rule.Matches(text) && isASCII(text) {
				t.Fatalf("%s matches %q", rule.Pattern, text)
			}
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}
