package plaintext

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// Literals returns texts, in lower case, of which every match of a pattern
// holds at least one; nil when it cannot tell. Searching for a text is a
// hundred times faster than trying an expression that ignores case, and most
// rules match nothing.
func Literals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return required(re)
}

// minLiteral is the shortest text worth searching for: shorter ones are
// everywhere.
const minLiteral = 3

func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if text := strings.ToLower(string(re.Rune)); len(text) >= minLiteral {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		return mostTelling(re.Sub)
	case syntax.OpAlternate:
		return ofEach(re.Sub)
	}
	return nil
}

// mostTelling chooses the part of a sequence whose shortest text is longest.
func mostTelling(parts []*syntax.Regexp) (best []string) {
	for _, part := range parts {
		if texts := required(part); len(texts) > 0 && (best == nil || shortest(texts) > shortest(best)) {
			best = texts
		}
	}
	return best
}

// ofEach is the texts of all branches; a branch without one spoils it.
func ofEach(branches []*syntax.Regexp) (all []string) {
	for _, branch := range branches {
		texts := required(branch)
		if len(texts) == 0 {
			return nil
		}
		all = append(all, texts...)
	}
	return all
}

func shortest(texts []string) int {
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
