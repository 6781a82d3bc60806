// Package plaintext cleans and matches text: log lines, secrets, code fences and
// fast forms of regular expressions. It knows no CLI and does no I/O.
package plaintext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds a CLI's text in a log line, in runes.
const maxLine = 300

// Escapes matches the control sequences of a terminal.
var Escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)

// OneLine makes text fit for a log line: it removes escape sequences and control
// characters, folds white space and cuts the text after 300 characters.
func OneLine(s string) string {
	s = Escapes.ReplaceAllString(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return s
}

// LastLine returns the last line of s that is not blank, as OneLine does.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return OneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

// Problem says why a text cannot be passed to a program unchanged, or returns
// "": the system passes no NUL, and CLIs silently replace invalid UTF-8.
func Problem(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return fmt.Sprintf("NUL byte at offset %d: remove it", i)
	}
	if utf8.ValidString(s) {
		return ""
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("invalid UTF-8 (byte 0x%02x) at offset %d: convert the text first", s[i], i)
		}
		i += size
	}
	return ""
}

// StripFence removes one code fence that encloses the whole text, with its language tag. A text with several fences, or
// with words around one, stays as it is; of a fence that is never closed it removes the opening.
func StripFence(text string) string {
	body := strings.TrimSpace(text)
	if !strings.HasPrefix(body, "```") {
		return text
	}
	inner, closed := strings.CutSuffix(strings.TrimLeft(body, "`"), "```")
	if strings.Contains(inner, "```") {
		return text
	}
	if closed {
		inner = strings.TrimRight(inner, "`")
	}
	return strings.TrimSpace(cutTag(inner))
}

// cutTag removes the language tag: the rest of the opening line or, where a
// model put everything on one line, the word before the first space.
func cutTag(inner string) string {
	tag, rest, ok := strings.Cut(inner, "\n")
	if !ok {
		tag, rest, ok = strings.Cut(inner, " ")
	}
	if !ok || strings.ContainsAny(tag, "{}[]\"'(): ") {
		return inner
	}
	return rest
}
