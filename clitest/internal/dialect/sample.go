package dialect

import (
	"regexp/syntax"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// Sample returns a short text that the whole pattern matches, including its optional parts. ok is false if it finds
// none.
func Sample(pattern string) (text string, ok bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	text = shortest(re.Simplify())
	return text, plaintext.Whole(pattern).MatchString(text)
}

// shortest returns a text for a parsed pattern. It ignores anchors.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(oneOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "." // in patterns such as "thread.started", the dot is meant literally
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

// oneOf returns a character of a class, given by the ends of its ranges. It prefers a letter or a digit.
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
