package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// LastLine returns the last line of s that is not blank.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return terminal.OneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

// Wrap breaks a text between words into lines of at most width columns. It shortens a word that is too long.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = terminal.Shorten(word, width)
		switch {
		case line == "":
			line = word
		case terminal.Width(line)+1+terminal.Width(word) <= width:
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

// Duration formats a measured time, such as "1.25 s".
func Duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// Dollars formats an amount in US dollars, such as "$0.0123" or "$4.50". call.Usage has the same digits below $1.
func Dollars(usd float64) string {
	if usd < 1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Roughly formats a time to wait, such as "3 h 12 min".
func Roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute).Minutes())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case minutes < 60:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d days", minutes/60/24)
}

// Plural formats a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// JoinTexts joins the texts that are not empty, separated by commas.
func JoinTexts(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), ", ")
}
