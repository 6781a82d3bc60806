package plaintext

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Matcher returns a function that matches a pattern against a whole text. It panics if the pattern is malformed. Most
// patterns consist of one or a few words, and comparing them is ten times faster than a regular expression.
func Matcher(pattern string) func(text string) bool {
	pattern = strings.TrimPrefix(pattern, "(?s)") // the default below
	if text, ok := Literal(pattern); ok {
		return func(s string) bool { return s == text }
	}
	switch {
	case pattern == ".*":
		return func(string) bool { return true }
	case pattern == ".+":
		return func(s string) bool { return s != "" }
	case onlyWords(pattern):
		return oneOf(strings.Split(pattern, "|"))
	}
	if words, ok := optional(pattern); ok {
		return oneOf(append(strings.Split(words, "|"), ""))
	}
	return regexp.MustCompile(`^(?s:` + pattern + `)$`).MatchString
}

// onlyWords reports whether a pattern consists of words, dots and "|".
func onlyWords(pattern string) bool { return !strings.ContainsAny(pattern, `\+*?()[]{}^$`) }

// optional returns the words of a pattern such as "(a|b)?".
func optional(pattern string) (words string, ok bool) {
	words, closed := strings.CutSuffix(pattern, ")?")
	words, opened := strings.CutPrefix(words, "(")
	return words, opened && closed && onlyWords(words)
}

func oneOf(words []string) func(text string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return equalButDots(word, text) })
	}
}

// Literal returns the literal prefix of a pattern. ok is true if the pattern matches nothing else. It panics if the
// pattern is malformed.
func Literal(pattern string) (text string, ok bool) {
	return regexp.MustCompile(pattern).LiteralPrefix()
}

// equalButDots compares a text with a word in which a dot stands for any character.
func equalButDots(word, text string) bool {
	for _, want := range word {
		got, n := utf8.DecodeRuneInString(text)
		if n == 0 || want != '.' && want != got {
			return false
		}
		text = text[n:]
	}
	return text == ""
}

// Whole compiles a pattern that must match a whole value. It panics if the pattern is malformed.
func Whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

// Literals returns texts in lower case of which every match of the pattern contains at least one. It returns nil if it
// finds none. Most rules match nothing, and searching for a text is a hundred times faster than trying a regular
// expression that ignores case.
func Literals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return required(re)
}

// minLiteral is the minimum length of a text to search for, in bytes. Shorter texts occur nearly everywhere.
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
		return longest(re.Sub)
	case syntax.OpAlternate:
		return ofEach(re.Sub)
	}
	return nil
}

// longest returns the texts of one part of a sequence: the part whose shortest text is the longest.
func longest(parts []*syntax.Regexp) (best []string) {
	for _, part := range parts {
		if texts := required(part); len(texts) > 0 && (best == nil || shortest(texts) > shortest(best)) {
			best = texts
		}
	}
	return best
}

// ofEach returns the texts of all branches, or nil if a branch has none.
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
