// Package plaintext cleans and matches text: log lines, secrets, code fences, and fast forms of regular expressions. It
// depends on no CLI and does no I/O.
package plaintext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clichain/clichain/internal/pattern"
)

// maxLine is the maximum length of a CLI's text in a log line, in runes.
const maxLine = 300

// Escapes matches the control sequences of a terminal.
var Escapes = pattern.Of(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)

// OneLine prepares text for a log line. It removes escape sequences and control characters, folds white space, and cuts
// the text after 300 characters.
func OneLine(s string) string {
	s = Escapes().ReplaceAllString(s, "")
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

// LastLine returns the last line of s that is not blank, prepared like OneLine.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return OneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

const (
	lastLines   = 3
	maxLastText = 200 // bytes
)

// LastLines returns up to three lines from the end of s, each prepared like OneLine, with " | " between them. It leaves
// out blank lines, and the first of these lines if the result would be longer than 200 bytes.
func LastLines(s string) string {
	kept := ""
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for _, line := range slices.Backward(lines[max(len(lines)-lastLines, 0):]) {
		switch line = OneLine(line); {
		case line == "":
		case kept == "":
			kept = line
		case len(line)+len(kept) > maxLastText:
			return kept
		default:
			kept = line + " | " + kept
		}
	}
	return kept
}

// Problem returns the reason why a text cannot be passed to a program unchanged, "" if there is none. The system passes
// no NUL, and CLIs silently replace invalid UTF-8.
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
			return fmt.Sprintf("invalid UTF-8 (byte 0x%02x) at offset %d: convert the text to UTF-8", s[i], i)
		}
		i += size
	}
	return ""
}

// StripFence removes one code fence that encloses the whole text, with its info string. It does not change a text with
// several fences or with text around a fence. It removes a fence on a single line only if the fence contains JSON. Of a
// fence that is never closed, it removes the opening.
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
	info, rest, lines := strings.Cut(inner, "\n")
	if value, ok := jsonAfterWord(inner); ok {
		return value
	}
	switch {
	case !lines:
		return text
	case startsValue(info):
		return strings.TrimSpace(inner)
	}
	return strings.TrimSpace(rest)
}

// jsonAfterWord returns the JSON value of a text that consists of a language name and JSON. Models put both on one
// line.
func jsonAfterWord(text string) (value string, ok bool) {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text, true
	}
	_, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	return rest, startsValue(rest) && json.Valid([]byte(rest))
}

// startsValue reports whether the line after a fence starts a value. An info string starts with a word.
func startsValue(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && strings.ContainsRune(`{["`, rune(line[0]))
}
