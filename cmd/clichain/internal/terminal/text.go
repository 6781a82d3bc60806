package terminal

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Visible drops control characters, and those that turn the direction of writing, so that the text of a model or of a
// CLI can neither move the cursor of the terminal, nor change its title, nor look like another text.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

// OneLine is the visible text with single blanks between its words.
func OneLine(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// cells measures texts as terminals do, whatever language they are set to.
var cells = runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns a text takes.
func Width(s string) int { return cells.StringWidth(s) }

// Shorten cuts a line to a number of columns.
func Shorten(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return cells.Truncate(s, width, "…")
}
