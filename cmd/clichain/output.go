package main

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writeJSON prints a value on one line, or indented for people.
func writeJSON(w io.Writer, value any, indent bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	return outputError(e.Encode(value))
}

// visible drops control characters: a model's text, or a CLI's, must not move
// the cursor of the terminal it is shown on, nor rewrite its title.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// oneLine is the text as part of a line.
func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }

// lastLine is the last line of a text, as part of a line.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

// shorten cuts a line to a number of columns; every rune counts as one.
func shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(width-1, 0)]) + "…"
}

// wrap breaks a text between words into lines of a width; a word that is too
// long is cut.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = shorten(word, width)
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}
