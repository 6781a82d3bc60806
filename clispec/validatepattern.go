package clispec

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/internal/grammar"
)

// pattern parses the expression but does not compile it, because compiling would dominate the start time of a
// program.
func (v *validator) pattern(path, pattern string) {
	if !strings.ContainsAny(pattern, `\.+*?()|[]{}^$`) && utf8.ValidString(pattern) {
		return // most patterns are a literal word
	}
	err, known := v.patterns[pattern]
	if !known {
		_, err = syntax.Parse(pattern, syntax.Perl)
		v.patterns[pattern] = err
	}
	if err != nil {
		v.add(path, pattern, "is not a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

// matchesEmpty reports whether an expression matches the empty text. Compiling the expression for that would take
// longer than all other checks of a line.
func matchesEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || matchesEmpty(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, matchesEmpty)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(part *syntax.Regexp) bool { return !matchesEmpty(part) })
	}
	return false
}

// most checks a path with the modifier that finds the greatest number.
func (v *validator) most(path, key string, inSet bool) {
	object, number, found := strings.Cut(key, grammar.MostModifier)
	switch {
	case !found:
	case !inSet:
		v.add(path, key, "has @most, which is valid only in set")
	case strings.TrimPrefix(object, grammar.ElementPrefix) == "" || number == "":
		v.add(path, key, "needs the path of an object and the name of a number: \"models|@most:tokens\"")
	}
}
