package dialect

import (
	"regexp/syntax"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// Sample returns a short text that the whole of a pattern matches, with its optional parts; ok is false where it finds
// none.
func Sample(pattern string) (text string, ok bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	text = shortest(re.Simplify())
	return text, plaintext.Whole(pattern).MatchString(text)
}

// shortest is a text for a parsed pattern, without a look at what its anchors want.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(oneOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "." // of "thread.started", it is what was meant
	case syntax.OpCapture, syntax.OpAlternate, syntax.OpQuest:
		return shortest(re.Sub[0])
	case syntax.OpPlus:
		return strings.ReplaceAll(shortest(re.Sub[0]), ".", "x")
	case syntax.OpConcat:
		var b strings.Builder
		for _, part := range re.Sub {
			b.WriteString(shortest(part))
		}
		return b.String()
	}
	return ""
}

// oneOf is a character of a class, given by the ends of its ranges: a letter or a digit, if it has one.
func oneOf(ranges []rune) rune {
	for _, plain := range "a0A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= plain && plain <= ranges[i+1] {
				return plain
			}
		}
	}
	return ranges[0]
}
