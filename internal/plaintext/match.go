package plaintext

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Matcher compiles an anchored pattern. Nearly all are a word, or some
// words: comparing those is ten times faster than an expression.
func Matcher(pattern string) func(text string) bool {
	if text, ok := Literal(pattern); ok {
		return func(s string) bool { return s == text }
	}
	switch {
	case pattern == ".*":
		return func(string) bool { return true }
	case pattern == ".+":
		return func(s string) bool { return s != "" }
	case !strings.ContainsAny(pattern, `\+*?()[]{}^$`):
		words := strings.Split(pattern, "|")
		return func(s string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return equalButDots(word, s) })
		}
	}
	return regexp.MustCompile(`^(?s:` + pattern + `)$`).MatchString
}

// Literal is the one text that a pattern matches.
func Literal(pattern string) (string, bool) {
	return regexp.MustCompile(pattern).LiteralPrefix()
}

// equalButDots compares a text with a word in which a dot is any character.
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

// Whole is a pattern of which a value must match the whole.
func Whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }
