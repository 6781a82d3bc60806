package plaintext

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds somebody else's text in one line of ours, in runes.
const maxLine = 300

// Escapes are the terminal's control sequences.
var Escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)

// OneLine makes a backend's words fit for a log line: no escape sequences and
// control characters, white space folded, the length bounded.
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

func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return OneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

// Problem says why a text cannot travel to a program unchanged: programs
// take no NUL, and the CLIs replace invalid UTF-8 without a word. Empty: it can.
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
